import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';
import type { Provenance } from '../../schemas/sink.ts';
import { watchKey, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import type { Fingerprint } from '../decode/fingerprint.ts';
import type { TextPolicy } from '../decode/grammar.ts';
import type { OrderHint } from './order-hint.ts';
import type { Memory } from './memory.ts';
import type { TrackedOrders } from './poller-contract.ts';
import type { SignatureExaminer } from './signature-examiner.ts';
import type { WatchStore } from './watch-store.ts';

/** What every step works with. Steps hold no state of their own. */
export interface OrdersContext {
  readonly collectorId: string;
  /** Days that history items are kept; 0: for ever. */
  readonly historyDays: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly gateways: ReadonlyMap<string, GatewayConfig>;
  readonly watchStore: WatchStore;
  readonly tracked: Pick<TrackedOrders, 'track' | 'nudge' | 'recall'>;
  /** Whether what is tracked still counts. */
  readonly memory: Memory;
  /** Is the order this collector's? One collector at a time reads it and writes its row (decision 13). */
  readonly owns: (order: WatchRef) => boolean;
  /**
   * Gives hints to the owners of orders. Resolves when the brokers have them. null: no other collector is
   * known.
   */
  readonly handOver: ((hints: readonly OrderHint[]) => Promise<void>) | null;
  /** Finds out why signatures do not verify. */
  readonly examiner: SignatureExaminer;
  readonly instruments: Instruments;
  /** Replaces text that fits no allowed pattern with a keyed hash. The key comes from the store. */
  readonly fingerprint: Fingerprint;
  /** Resolves when every row is acknowledged. */
  readonly write: (bundle: RowBundle, provenance: Provenance) => Promise<void>;
}

/** The order as it is tracked; undefined where it is not, or where that no longer counts. */
export function recallOrder(
  ref: WatchRef,
  { tracked, memory }: Pick<OrdersContext, 'tracked' | 'memory'>,
): WatchedOrder | undefined {
  const found = tracked.recall(watchKey(ref));
  return found !== undefined && memory.counts(ref, found.loadedIn) ? found.order : undefined;
}

/** Which texts of a gateway rows may keep as they are. */
export function textPolicy(gateway: GatewayConfig, { fingerprint }: OrdersContext): TextPolicy {
  return { fingerprint, keepsCardLikeIds: gateway.cardLikeIds === 'keep' };
}

/** A clock that rises with every call, so that two rows of one order never have the same time. */
export function createStamp(clock: Clock): () => EpochMicros {
  let last = 0;
  return () => {
    last = Math.max(clock.now(), last + 1);
    return last;
  };
}
