import { createHash } from 'node:crypto';
import type { Sandbox } from '../../../sandbox/server.ts';
import type { ConfigInput } from '../../support/collector-process.ts';

export type GatewayInput = ConfigInput['gateways'][number];

/** Seconds instead of minutes: an order is settled two seconds after its final status was seen. */
export const FAST_POLL = {
  delaysS: [0.5, 1],
  maxDelayS: 1,
  jitter: 0,
  rereadsS: [1, 2],
  mergeCallbacksMs: 100,
} as const satisfies GatewayInput['poll'];

/** The sandbox as a gateway of the configuration. */
export function gatewayConfig(sandbox: Sandbox, more: Partial<GatewayInput> = {}): GatewayInput {
  return {
    name: 'sandbox',
    secureUrl: sandbox.secureUrl,
    token: sandbox.token,
    callbackKeys: [sandbox.callbackKey],
    poll: { ...FAST_POLL, delaysS: [...FAST_POLL.delaysS], rereadsS: [...FAST_POLL.rereadsS] },
    ...more,
  };
}

export interface CallbackFields {
  readonly externalId: string;
  readonly status?: string;
  readonly amount?: string;
  readonly orderType?: 'Deposit' | 'Withdrawal';
  readonly currency?: string;
}

/** A callback's body, and its signature as section 6.3 of the interface has a merchant compute it. */
export function signedCallback(fields: CallbackFields, key: string): { body: string; signature: string } {
  const {
    externalId,
    status = 'Success',
    amount = '100.00',
    currency = 'EUR',
    orderType = 'Deposit',
  } = fields;
  const body = { externalId, status, amount, currency, orderType };
  const text = [externalId, status, amount, orderType, key].join(';');
  return { body: JSON.stringify(body), signature: createHash('sha256').update(text).digest('hex') };
}

/** Sends such a callback to an address of the intake, as the gateway does. */
export function postCallback(url: string, fields: CallbackFields, key: string): Promise<Response> {
  const { body, signature } = signedCallback(fields, key);
  const headers = { Signature: signature, 'Content-Type': 'application/json' };
  return fetch(url, { method: 'POST', body, headers });
}

/** The worked example: an order of the gateway `acme-eu`, and the ids that must come of it. */
export const EXAMPLE = {
  gateway: 'acme-eu',
  externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
  time: '2026-11-21T10:15:30.250Z',
  action: '2.2.4.11',
  traceId: 'e9aa68962ba7f508d810ef274ad7c745',
  rootSpanId: 'd715956db1b89fd4',
  spanId: '1c9b13a5a77bfaa2',
} as const;

/**
 * Delays of a gateway that sends again until it is answered, in milliseconds. A busy machine takes half a
 * minute for a start, and an order whose callbacks the gateway gave up is unknown.
 */
export const UNTIL_ANSWERED: readonly number[] = Array.from({ length: 600 }, () => 500);
