import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';
import type { Provenance } from '../../schemas/sink.ts';
import type { WatchRef } from '../../schemas/watch.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import type { Fingerprint } from '../decode/fingerprint.ts';
import type { TextPolicy } from '../decode/grammar.ts';
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
  readonly tracked: Pick<TrackedOrders, 'track' | 'nudge' | 'get'>;
  /** Is the order this collector's? Its row is written by one collector at a time (decision 13). */
  readonly owns: (order: WatchRef) => boolean;
  /** Finds out why signatures do not verify. */
  readonly examiner: SignatureExaminer;
  readonly instruments: Instruments;
  /** Replaces text that fits no allowed pattern with a keyed hash. The key comes from the store. */
  readonly fingerprint: Fingerprint;
  /** Resolves when every row is acknowledged. */
  readonly write: (bundle: RowBundle, provenance: Provenance) => Promise<void>;
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
