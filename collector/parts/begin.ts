import { loadFingerprintKey } from '../../store/fingerprint-key.ts';
import { migrate, untilStoreAnswers, type OpenedStore } from '../../store/open.ts';
import { VERSION } from '../../store/package-files.ts';
import { createFingerprint } from '../decode/fingerprint.ts';
import type { Orders } from '../orders/orders.ts';
import type { Listeners } from '../sources/http/listeners.ts';
import type { KafkaInput } from '../sources/kafka/input.ts';
import { gaugeReaders, processGauges, type Parts } from '../telemetry/gauges.ts';
import { startReports } from '../telemetry/status-reporter.ts';
import { beginAlerting } from './alerting.ts';
import type { Base } from './base.ts';
import type { Sinks } from './sinks.ts';

/** What waits for the store: its schema, then orders of earlier runs, then new input, reports and alerts. */
export async function begin(
  base: Base,
  { store, keyFile, embedded }: OpenedStore,
  { sink, spans }: Sinks,
  orders: Orders,
  kafka: KafkaInput | null,
  { http, intake }: Listeners,
): Promise<void> {
  const { config, collectorId, log, clock, stamp, life, health, counters, telemetry } = base;
  const parts: Parts = {
    sink,
    orders,
    spans,
    kafka: kafka?.source ?? null,
    lastProgressAt: counters.lastProgressAt,
    engine: embedded,
  };
  telemetry.observe(gaugeReaders(parts, clock));
  telemetry.observe(processGauges(base.self, VERSION, clock.now(), config.dataDir));
  await migrate(config.retention, { store, log, signal: life.signal });
  const fingerprint = createFingerprint(await loadFingerprintKey({ store, keyFile }, stamp));
  life.signal.throwIfAborted();
  spans.start();
  health.starting('what the last run left unfinished is being completed');
  await sink.recover();
  health.starting('the watched orders are being loaded');
  const assignment = () => kafka?.assignment() ?? null;
  const tenure = () => kafka?.tenure() ?? null;
  const known = { fingerprint, assignment, tenure, produceHints: kafka?.produceHints ?? null };
  const resumedOrders = await untilStoreAnswers(() => orders.start(known), {
    store,
    log,
    signal: life.signal,
  });
  life.signal.throwIfAborted();
  health.started();
  await kafka?.source.start();
  const self = { collectorId, version: VERSION, clock, stamp, counters, memoryBytes: base.self.memoryBytes };
  life.onStop(startReports({ ...parts, ...self, fail: life.fail }));
  await beginAlerting(base, store, http);
  log.info({ http, intake, store: store.url, config: config.origin, resumedOrders }, 'collecting');
}
