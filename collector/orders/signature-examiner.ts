import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { SignedFields } from '../../schemas/gateway/callback.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import type { SignatureCause } from '../../schemas/signature-causes.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { nameCause, type Mismatch } from '../decode/signature-cause.ts';

/** Looks at signatures of one collector: why one does not verify. It never decides whether one does. */
export interface SignatureExaminer {
  /** `not_examined` when the gateway's share of this second is used up. Takes a millisecond at most. */
  examine(gateway: GatewayConfig, mismatch: Mismatch): SignatureCause;
  /** A signature that verified: seen again under another content, it shows what was changed. */
  remember(gateway: string, callback: SignedFields, signature: string): void;
}

export interface SignatureExaminerOptions {
  readonly gateways: ReadonlyMap<string, GatewayConfig>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The order as it is read at present, by its watch key. */
  readonly tracked: (key: string) => WatchedOrder | undefined;
  /** For each gateway, so that a flood of wrong signatures buys little. @default 20 */
  readonly perSecond?: number;
  /** Signatures that are remembered at most, of all gateways; the newest half is sure to be. @default 4096 */
  readonly maxRemembered?: number;
}

const FIELDS = {
  externalId: 'external_id_altered',
  status: 'status_altered',
  amount: 'amount_altered',
  orderType: 'order_type_altered',
} as const satisfies Record<keyof SignedFields, SignatureCause>;

export function createSignatureExaminer(options: SignatureExaminerOptions): SignatureExaminer {
  const { gateways, clock, tracked, perSecond = 20, maxRemembered = 4096 } = options;
  const shares = new Map<string, Share>();
  const remembered = createMemory(maxRemembered);

  return {
    examine(gateway, mismatch) {
      const share = refilled(shares.get(gateway.name), clock.monotonicMs(), perSecond);
      shares.set(gateway.name, share.left < 1 ? share : { ...share, left: share.left - 1 });
      if (share.left < 1) return 'not_examined';
      const { callback, signature } = mismatch;
      const order = tracked(
        watchKey({
          gateway: gateway.name,
          orderType: callback.orderType,
          idKind: 'external-id',
          orderId: canonicalId(callback.externalId),
        }),
      );
      const cause = nameCause(mismatch, {
        keys: gateway.callbackKeys,
        token: gateway.token,
        otherKeys: [...gateways.values()].flatMap(({ name, callbackKeys }) =>
          name === gateway.name ? [] : callbackKeys,
        ),
        known: order ?? null,
      });
      const genuine = remembered.get(rememberedAs(gateway.name, signature));
      return genuine === undefined ? cause : changeBetween(genuine, callback);
    },
    remember(gateway, { externalId, status, amount, orderType }, signature) {
      remembered.set(rememberedAs(gateway, signature), { externalId, status, amount, orderType });
    },
  };
}

/**
 * Two generations, the older of which is forgotten as a whole: every callback that verifies comes through
 * here, and to forget one after the other cost a tenth of it.
 */
function createMemory(max: number) {
  let [young, old] = [new Map<string, SignedFields>(), new Map<string, SignedFields>()];
  return {
    get: (key: string): SignedFields | undefined => young.get(key) ?? old.get(key),
    set(key: string, callback: SignedFields): void {
      if (young.size >= max / 2) [old, young] = [young, new Map()];
      young.set(key, callback);
    },
  };
}

/** The interface reads hexadecimal digits of either case, and white space around them is no part of them. */
const rememberedAs = (gateway: string, signature: string): string =>
  `${gateway}|${signature.trim().toLowerCase()}`;

function changeBetween(genuine: SignedFields, callback: SignedFields): SignatureCause {
  const changed = (Object.keys(FIELDS) as (keyof SignedFields)[]).filter(
    (field) => canonicalId(genuine[field]) !== canonicalId(callback[field]),
  );
  const [only, ...more] = changed;
  return only === undefined || more.length > 0 ? 'signature_reused' : FIELDS[only];
}

/** What a gateway may still have examined, and as of when. */
export interface Share {
  readonly left: number;
  readonly atMs: number;
}

/** At most one second's share is saved up. */
export function refilled(before: Share | undefined, nowMs: number, perSecond: number): Share {
  if (before === undefined) return { left: perSecond, atMs: nowMs };
  const earned = (Math.max(0, nowMs - before.atMs) / 1000) * perSecond;
  return { left: Math.min(perSecond, before.left + earned), atMs: nowMs };
}
