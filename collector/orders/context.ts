import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';
import type { Provenance } from '../../schemas/sink.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import type { Fingerprint } from '../decode/fingerprint.ts';
import type { TextPolicy } from '../decode/grammar.ts';
import type { TrackedOrders } from './tracked-orders.ts';
import type { WatchMemory } from './watch-memory.ts';

/** What every step works with. Steps hold no state of their own. */
export interface OrdersContext {
  readonly collectorId: string;
  /** Days that history items are kept; 0: for ever. */
  readonly historyDays: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly gateways: ReadonlyMap<string, GatewayConfig>;
  readonly memory: WatchMemory;
  readonly tracked: Pick<TrackedOrders, 'track' | 'nudge' | 'get'>;
  readonly instruments: Instruments;
  /** Stands for texts that fit no grammar. Known once the store is there, before anything is taken in. */
  readonly fingerprint: Fingerprint;
  /** Resolves when every row is acknowledged. */
  readonly write: (bundle: RowBundle, provenance: Provenance) => Promise<void>;
}

/** What rows may keep of the texts that one gateway sends. */
export function textPolicy(gateway: GatewayConfig, { fingerprint }: OrdersContext): TextPolicy {
  return { fingerprint, keepsCardLikeIds: gateway.cardLikeIds === 'keep' };
}

/** A stamp that rises with every call: two rows of one order never carry the same one. */
export function createStamp(clock: Clock): () => EpochMicros {
  let last = 0;
  return () => {
    last = Math.max(clock.now(), last + 1);
    return last;
  };
}
