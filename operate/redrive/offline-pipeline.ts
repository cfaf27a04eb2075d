import { randomUUID } from 'node:crypto';
import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { RowBundle } from '../../schemas/rows.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import { createFingerprint } from '../../collector/decode/fingerprint.ts';
import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { createWatchMemory } from '../../collector/orders/watch-memory.ts';
import { loadFingerprintKey } from '../../store/fingerprint-key.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import type { Store } from '../../store/store.ts';
import type { Provenance } from '../../schemas/sink.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';

export interface OfflinePipelineOptions {
  readonly store: Store;
  readonly gateways: readonly GatewayConfig[];
  readonly clock: Clock;
  /** What runs it: part of the name under which its batches stand in the ledger. */
  readonly purpose: 'redrive' | 'backfill';
  /** Decode and judge, and store nothing. @default false */
  readonly dryRun?: boolean;
}

/** The collector's own steps without its poller: what they track is stored, and noted for whoever polls. */
export interface OfflinePipeline {
  readonly context: OrdersContext;
  /** Orders to be read that were named since the last call. */
  tracked(): WatchedOrder[];
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 30_000;

/**
 * For commands that ingest on their own. Batches are numbered by their writer, so it is another one than the
 * collector, which may be running; a new one each time, since two commands may run at once.
 */
export async function createOfflinePipeline(options: OfflinePipelineOptions): Promise<OfflinePipeline> {
  const { store, clock, purpose } = options;
  const collectorId = `${purpose}-${randomUUID().slice(0, 8)}`;
  const sink = createClickHouseSink({ store, collectorId, maxAgeMs: 0 });
  const key = await loadFingerprintKey(store, clock.now);
  let tracked: WatchedOrder[] = [];
  const write =
    options.dryRun === true
      ? async () => undefined
      : (bundle: RowBundle, provenance: Provenance) => sink.write(bundle, provenance);
  return {
    context: {
      collectorId,
      // It reads no replies.
      historyDays: 0,
      clock: { ...clock, now: createStamp(clock) },
      random: Math.random,
      gateways: new Map(options.gateways.map((gateway) => [gateway.name, gateway])),
      memory: createWatchMemory((sql, params) => store.query(sql, params)),
      tracked: {
        track: ({ order }) => void tracked.push(order),
        nudge: () => false,
        get: () => undefined,
      },
      instruments: noInstruments(),
      fingerprint: createFingerprint(key),
      write,
    },
    tracked() {
      const orders = tracked;
      tracked = [];
      return orders;
    },
    stop: () => sink.stop(STOP_GRACE_MS),
  };
}
