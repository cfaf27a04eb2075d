import { createHash, timingSafeEqual } from 'node:crypto';
import type { GatewayConfig } from '../../../schemas/config.ts';
import { addressList, type AddressList } from './addresses.ts';

export type CallbackGateway = Pick<GatewayConfig, 'callbackAddresses' | 'callbackPathSecret'>;

/** Whether a sender may deliver callbacks of a gateway. `unknown`: as if there were no such path. */
export type CallbackVerdict = 'open' | 'unknown' | 'foreign_address';

export interface CallbackAccess {
  check(gateway: string, pathSecret: string | undefined, address: string): CallbackVerdict;
  /** Whether any gateway is configured with this address. */
  isGatewayAddress(address: string): boolean;
}

/** @param gateways as they are at present: secrets may be replaced while we run */
export function createCallbackAccess(gateways: ReadonlyMap<string, CallbackGateway>): CallbackAccess {
  const lists = new WeakMap<CallbackGateway, AddressList>();
  const listOf = (gateway: CallbackGateway): AddressList => {
    const list = lists.get(gateway) ?? addressList(gateway.callbackAddresses);
    lists.set(gateway, list);
    return list;
  };
  return {
    check(name, pathSecret, address) {
      const gateway = gateways.get(name);
      if (gateway === undefined) return 'unknown';
      // Checked first, so that other senders cannot find out whether a path secret is right.
      if (gateway.callbackAddresses.length > 0 && !listOf(gateway)(address)) return 'foreign_address';
      const wanted = gateway.callbackPathSecret?.reveal();
      if (wanted === undefined) return pathSecret === undefined ? 'open' : 'unknown';
      return pathSecret !== undefined && isEqual(pathSecret, wanted) ? 'open' : 'unknown';
    },
    isGatewayAddress: (address) => [...gateways.values()].some((gateway) => listOf(gateway)(address)),
  };
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
