import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createAlertsNow } from '../alerts/evaluate/alerts-now.ts';
import { createPass } from '../alerts/evaluate/pass.ts';
import { createQuarterKeeper } from '../alerts/evaluate/quarter-keeper.ts';
import { createExplainer } from '../alerts/explain/explainer.ts';
import { RULES } from '../alerts/rules/all.ts';
import { createPaymentCounts } from '../alerts/metrics/payment-counts.ts';
import { createTotalsReader } from '../alerts/metrics/totals.ts';
import { isAskedDirectly } from '../alerts/rules/rule.ts';
import { createFindings } from '../alerts/findings/sweep.ts';
import { type Alerting, startAlerting } from '../alerts/start.ts';
import type { AlertsNow } from '../console/server/console.ts';
import { startConsole } from '../console/server/start.ts';
import type { Environment, GatewayConfig, LoadedConfig } from '../schemas/config.ts';
import { withDeadline } from '../schemas/deadline.ts';
import { ORDER_QUARTERS_KEPT } from '../schemas/order-quarters.ts';
import { OWN_ATTRIBUTES } from '../schemas/own-spans.ts';
import { POLL_QUARTERS_KEPT } from '../schemas/poll-quarters.ts';
import { systemClock } from '../schemas/system-clock.ts';
import { loadFingerprintKey } from '../store/fingerprint-key.ts';
import { logEvents } from '../store/embedded/events.ts';
import { storedEnds, type KafkaPartition } from '../store/stored-offsets.ts';
import { migrate, openStore, untilStoreAnswers, type OpenedStore } from '../store/open.ts';
import { readOrderRecord } from '../store/order-record.ts';
import { readOrderTimeline } from '../store/order-timeline.ts';
import { startSystemdWatchdog } from './systemd-watchdog.ts';
import { VERSION } from '../store/package-files.ts';
import { createStoreProbe } from '../store/store-probe.ts';
import { acknowledgedWithin, createBackpressure } from './backpressure.ts';
import { renewSecrets } from './config/renew-secrets.ts';
import { createFingerprint } from './decode/fingerprint.ts';
import { orderSpanOf } from './decode/ids.ts';
import { createSampler, markSampled } from './decode/sampling.ts';
import { itemSpans, rootSpan } from './decode/spans.ts';
import { createLifecycle, type Ending } from './lifecycle.ts';
import { createCascadeSafety, type CascadeSafety } from './orders/cascade-safety.ts';
import { createStamp } from './orders/context.ts';
import { countedWrite } from './orders/counting.ts';
import { createOrders, type Orders } from './orders/orders.ts';
import { toKafkaMessage } from './orders/to-kafka-message.ts';
import { createWatchStore } from './orders/watch-store.ts';
import { createClickHouseSink } from './sinks/clickhouse/sink.ts';
import { createSpanExport } from './sinks/otlp/span-export.ts';
import { proxyFromEnvironment } from './sources/gateway/connections.ts';
import { createStatusClient } from './sources/gateway/status-client.ts';
import { createCallbackAccess } from './sources/http/callback-access.ts';
import { readListenerTls, startListeners, type Listeners } from './sources/http/listeners.ts';
import { createRefusals } from './sources/http/guard.ts';
import type { KafkaInput } from './sources/kafka/input.ts';
import {
  evaluatorGauges,
  gaugeReaders,
  processGauges,
  type Parts,
  type ProcessReadings,
} from './telemetry/gauges.ts';
import { createHealth } from './telemetry/health.ts';
import { isOtlpWanted, readProtocol } from './telemetry/otel-env.ts';
import { createReportCounters } from './telemetry/report-counters.ts';
import { tracedBatches, tracedInserts, tracedReader } from './telemetry/traced-ports.ts';
import { startReports } from './telemetry/status-reporter.ts';
import { withSpan } from './telemetry/own-spans.ts';
import { startTelemetry } from './telemetry/telemetry.ts';

export interface CollectorDeps {
  readonly log: Logger;
  readonly env: Environment;
  /** Version, memory and processor time of this process. */
  readonly self: ProcessReadings;
}

export interface Collector {
  /**
   * Uses the secrets and certificates of a configuration that was read again; other settings hold from the
   * next start.
   * @throws GatewatchError `config_invalid`, and nothing has changed
   */
  reload(fresh: LoadedConfig): void;
  readonly addresses: { readonly http: string; readonly intake: string; readonly store: string };
  /** Stops sources first, drains what was taken in, then the sinks. Bounded; safe to repeat. */
  stop(reason: string): Promise<void>;
  /** Resolves when the collector is at its end, with the exit code its process should have. */
  readonly done: Promise<Ending>;
}

// A graceful stop has ten seconds in all. What is not stored by then is read again at the next start.
const STOP_MS = 10_000;
const DRAIN_MS = 3_000;
/** What the steps after the export of spans need: the embedded store and the telemetry. */
const LAST_STEPS_MS = 3_000;
/** For requests that the engine still works on. */
const ENGINE_STOP_MS = 2_500;
/** How long a sender of callbacks waits for its answer at most. */
const INTAKE_DEADLINE_MS = 5_000;
/** For what the console tells of an alert beside its numbers. */
const EXPLAIN_LIMIT_S = 5;
/** How long payments are counted within a minute, where there are many to catch up with. */
const COUNT_LIMIT_MS = 10_000;

/**
 * The whole topology: sources -> decode -> orders -> sinks. Sinks start first, and everything stops in
 * reverse. A store, broker or gateway that is merely away is waited for.
 * @throws GatewatchError or EmbeddedStoreError when the configuration cannot work
 */
export async function startCollector(config: LoadedConfig, deps: CollectorDeps): Promise<Collector> {
  const base = createBase(config, deps);
  const { life, log } = base;
  try {
    const opened = await openStore(config, {
      embedded: 'serve',
      stopTimeoutMs: ENGINE_STOP_MS,
      log: logEvents(log),
    });
    life.onStop(() => opened.close());
    void opened.embedded?.down.then((error) => life.fail(error.message));

    const sinks = startSinks(base, opened);
    const orders = connectOrders(base, opened, sinks);
    const kafka = await connectKafka(base, opened, sinks, orders);
    // Together: while the store is away, all of them wait for it.
    life.onStop(() => withDeadline(Promise.all([orders.stop(), kafka?.stop()]), DRAIN_MS));
    const listeners = await listen(base, opened, sinks, orders, kafka);

    void begin(base, opened, sinks, orders, kafka, listeners).catch((error: unknown) =>
      life.fail((error as Error).message),
    );
    return {
      addresses: { http: listeners.http, intake: listeners.intake, store: opened.store.url },
      reload: (fresh) => reload(base, listeners, fresh),
      stop: life.stop,
      done: life.done,
    };
  } catch (error) {
    await life.stop('start failed', 1);
    throw error;
  }
}

/** What all steps have in common. */
type Base = ReturnType<typeof createBase>;

function createBase(config: LoadedConfig, { log, env, self }: CollectorDeps) {
  const { collectorId } = config;
  const clock = systemClock;
  const life = createLifecycle(log);
  const telemetry = startTelemetry({ version: VERSION, collectorId, env });
  life.onStop(() => telemetry.stop(1_000));
  const stopWatchdog = startSystemdWatchdog(env, clock);
  life.onStop(async () => stopWatchdog());
  return {
    config,
    collectorId,
    // Secrets and addresses in here may be renewed while we run.
    gateways: new Map(config.gateways.map((gateway) => [gateway.name, gateway])),
    log,
    env,
    self,
    clock,
    stamp: createStamp(clock),
    life,
    health: createHealth(),
    // Starts last.
    alerting: { current: null } as { current: Alerting | null },
    counters: createReportCounters(clock),
    telemetry,
    instruments: telemetry.instruments,
  };
}

type Sinks = ReturnType<typeof startSinks>;

/** Rows into ClickHouse, spans from what is stored there. */
function startSinks(
  { config, collectorId, env, log, clock, life, counters, instruments }: Base,
  opened: OpenedStore,
) {
  const { store } = opened;
  const spans = createSpanExport({
    store,
    collectorId,
    version: VERSION,
    isWanted: isOtlpWanted(env, 'TRACES'),
    protocol: readProtocol(env, 'TRACES'),
    toSpans({ events, settlements }, sampling) {
      const all = [...itemSpans(events), ...settlements.map(rootSpan)];
      return sampling === null ? all : markSampled(all, sampling);
    },
    sampler: config.traces.sampling.share === 1 ? null : createSampler(config.traces.sampling),
    instruments,
    log,
  });
  // Spans of what was stored last still go out, as far as the steps before have left time; the next run sends
  // the others.
  const spansMs = () => Math.max(1_000, STOP_MS - LAST_STEPS_MS - life.endingForMs());
  life.onStop(() => spans.stop(Math.min(DRAIN_MS, spansMs())));
  const sink = createClickHouseSink({
    store: tracedInserts(store),
    collectorId,
    maxBatchRows: config.batch.maxRows,
    maxAgeMs: config.batch.maxAgeMs,
    quietAgeMs: config.batch.quietAgeMs,
    instruments,
    log,
    nowMicros: clock.now,
    onAcknowledged: (batchSeq) => spans.notify(batchSeq),
  });
  life.onStop(() => sink.stop(DRAIN_MS));
  return {
    sink,
    spans,
    write: countedWrite(sink, instruments, counters),
    checkBackpressure: createBackpressure(sink, clock.monotonicMs),
  };
}

/** What is known of orders, and the status requests that it asks for. */
function connectOrders(
  { config, collectorId, gateways, env, log, clock, stamp, life, instruments }: Base,
  { store }: OpenedStore,
  { write, checkBackpressure }: Sinks,
): Orders {
  const proxy = proxyFromEnvironment(env);
  return createOrders({
    collectorId,
    historyDays: config.retention.historyDays,
    gateways,
    clock,
    stamp,
    reader: tracedReader((gateway: GatewayConfig) => createStatusClient(gateway, proxy), orderSpanOf),
    watchStore: createWatchStore((sql, params) => store.query(sql, params)),
    write,
    checkBackpressure,
    isShared: config.kafka !== undefined,
    instruments,
    log,
    signal: life.signal,
  });
}

/** Records of Kafka into orders; null: no Kafka is configured. */
async function connectKafka(
  { config, gateways, log }: Base,
  { store }: OpenedStore,
  { sink }: Sinks,
  orders: Orders,
): Promise<KafkaInput | null> {
  if (config.kafka === undefined) return null;
  // The client and its codecs are loaded where they are used.
  const { createKafkaInput } = await import('./sources/kafka/input.ts');
  const handlers = {
    callbacks: tracedBatches(orders.takeCallbackRecords),
    watchRequests: tracedBatches(orders.takeWatchRecords),
    isStoreAway: () => sink.status().state === 'retrying',
    assigned: orders.assignmentChanged,
    storedEnds: (partitions: readonly KafkaPartition[]) => storedEnds(store, partitions),
  };
  return createKafkaInput(config.kafka, gateways, handlers, log);
}

/** The collector's own interface, the intake of callbacks and the console. */
async function listen(
  base: Base,
  opened: OpenedStore,
  { sink, write, checkBackpressure }: Sinks,
  orders: Orders,
  kafka: KafkaInput | null,
): Promise<Listeners> {
  const { config, gateways, log, clock, stamp, life, health, alerting, telemetry, instruments } = base;
  const { store } = opened;
  const probe = createStoreProbe({ ask: () => store.queryText('SELECT 1', 'TabSeparated'), clock });
  life.onStop(async () => probe.stop());
  // Beneath the views, which cost a reader several times as much.
  const explainer = createExplainer({
    rules: RULES,
    query: (sql) => store.query(sql, {}, { max_execution_time: EXPLAIN_LIMIT_S }),
    monotonicMs: clock.monotonicMs,
  });
  const { timeZone } = config.alerts;
  const alertsNow: AlertsNow = (source) => createAlertsNow({ ...source, timeZone, explainer });
  const console = startConsole(opened, clock, alertsNow, log);
  life.onStop(() => console.stop());
  const state = () => ({
    kafka: kafka?.source.status() ?? null,
    sink: sink.status(),
    pollers: orders.status(),
    store: probe.problem(),
    evaluator: alerting.current?.status() ?? null,
    readersRefusedUntilMs: opened.embedded?.readers().refusedUntil ?? 0,
  });
  const cascadeSafety = connectCascadeSafety(base, opened, orders);
  const listeners = await startListeners(config.http, {
    api: {
      version: VERSION,
      health: () => health.alive(state()),
      ready: () => health.ready(state()),
      metrics: (accept) => telemetry.renderMetrics(accept),
      judge: orders.judgeWatchRequests,
      watch: (requests) =>
        health.whenReady(
          async () => void (await orders.takeWatchRequests(requests, { watchRequests: requests.length })),
        ),
      timeline: (wanted) =>
        health.whenReady(() => readOrderTimeline((sql, params) => store.query(sql, params), wanted)),
      cascadeSafety: (wanted) => health.whenReady(() => cascadeSafety(wanted)),
      gateways: [...gateways.keys()],
      annotate: (row) => health.whenReady(() => (checkBackpressure(), write({ annotations: [row] }, {}))),
      now: clock.now,
      landing: console.site?.landing ?? null,
    },
    intake: {
      onReceived: () => instruments.received.add(1, { source: 'http' }),
      accept: (delivery) =>
        withSpan('intake', { [OWN_ATTRIBUTES.gateway]: delivery.gateway }, async () => {
          // With Kafka a callback is durable without the store.
          if (kafka !== null)
            return kafka.produce(
              toKafkaMessage(delivery, gateways, config.kafka?.callbackBodies, orders.examiner),
            );
          const received = { ...delivery, receivedAt: stamp(), source: 'http', coordinates: null } as const;
          await health.whenReady(() =>
            acknowledgedWithin(orders.takeCallbacks([received], { httpDeliveries: 1 }), INTAKE_DEADLINE_MS),
          );
        }),
    },
    console: console.site?.addRoutes ?? null,
    access: createCallbackAccess(gateways),
    onRefused: createRefusals(log, (reason) => instruments.refused.add(1, { reason }), clock.monotonicMs),
    log,
  });
  life.onStop(() => listeners.stop(1_000));
  return listeners;
}

/** Whether an order may go to another provider: what the gateway says now, and what is known. */
function connectCascadeSafety(base: Base, { store }: OpenedStore, orders: Orders): CascadeSafety {
  const { config, gateways, clock, instruments, log } = base;
  return createCascadeSafety({
    gateways,
    deadlineMs: config.cascadeSafety.deadlineMs,
    clock,
    ask: orders.ask,
    tracked: orders.tracked,
    lookUp: (wanted) => readOrderRecord((sql, params) => store.query(sql, params), wanted),
    onNews: (order) =>
      void orders
        .readSoon(order)
        .catch((error: unknown) => log.debug({ err: error }, 'an order with news could not be opened again')),
    instruments,
  });
}

/** What waits for the store: its schema, then orders of earlier runs, then new input, reports and alerts. */
async function begin(
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
  const resumedOrders = await untilStoreAnswers(() => orders.start({ fingerprint, assignment }), {
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

async function beginAlerting(base: Base, store: OpenedStore['store'], ownUrl: string): Promise<void> {
  const { config, collectorId, clock, log, life, alerting, telemetry, instruments } = base;
  const rules = RULES.filter((rule) => !isAskedDirectly(rule));
  const { pass, keep } = createPass({
    rules,
    query: (sql) => store.query(sql),
    evaluator: collectorId,
    now: clock.now,
    monotonicMs: clock.monotonicMs,
  });
  const findings = createFindings({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql),
  });
  const keepMarks = (asOfMs: number): Promise<boolean> =>
    keep(asOfMs, (sql) => store.command(sql)).catch(
      logAndRetryLater(log, 'marks of orders could not be kept; the next attempt catches up'),
    );
  const compare = (asOfMs: number): Promise<boolean> =>
    withSpan('comparison', {}, () => findings.sweep(asOfMs)).catch(
      logAndRetryLater(log, 'the sources about orders could not be compared; the next attempt catches up'),
    );
  const keepQuarters = keepQuartersIn(base, store);
  const count = countPayments(base, store);
  showPayments(base, store);
  const started = await startAlerting({
    // The console serves what pages link to, where there is no Grafana.
    config: { ...config.alerts, externalUrl: config.alerts.externalUrl || namedUrl(ownUrl) },
    gateways: config.gateways,
    store,
    rules,
    pass: (...scope) => withSpan('evaluation', {}, () => pass(...scope)),
    async keep(asOfMs) {
      const isMoreToKeep = await keepMarks(asOfMs);
      await count();
      const isMoreToCompare = await compare(asOfMs);
      await keepQuarters(asOfMs);
      return isMoreToKeep || isMoreToCompare;
    },
    collectorId,
    clock,
    log,
    dataDir: config.dataDir,
    onOutcome: (target, outcome) => instruments.alertNotices.add(1, { target, outcome }),
    onPass({ tookMs, missed }) {
      instruments.evaluationDuration.record(tookMs / 1000);
      if (missed > 0) instruments.evaluationsMissed.add(missed);
    },
  });
  alerting.current = started;
  telemetry.observe(evaluatorGauges(started.status));
  // A question to a store that hangs takes its whole deadline.
  life.onStop(() => withDeadline(started.stop(), 1_000));
}

/** An address that listens everywhere, by a name that others can open. */
const namedUrl = (url: string): string => url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, `//${hostname()}`);

/**
 * What one keeper cannot do holds back neither the rules nor another keeper. There is no more of it to do
 * now.
 */
function logAndRetryLater(log: Logger, failure: string): (error: unknown) => false {
  return (error) => {
    log.error({ err: error }, failure);
    return false;
  };
}

/** What dashboards read is made of items and of status requests until it is kept. */
function keepQuartersIn({ log }: Base, store: OpenedStore['store']): (asOfMs: number) => Promise<unknown> {
  const keepers = [ORDER_QUARTERS_KEPT, POLL_QUARTERS_KEPT].map((kind) => {
    const query = <T>(sql: string) => store.query<T>(sql);
    const { keep } = createQuarterKeeper({ kind, query, command: (sql) => store.command(sql) });
    const failed = logAndRetryLater(
      log,
      `quarters of ${kind.what} could not be kept; the next attempt catches up`,
    );
    return (asOfMs: number) => keep(asOfMs).catch(failed);
  });
  return async (asOfMs) => {
    for (const keep of keepers) await keep(asOfMs);
  };
}

/**
 * Counts payments for the metrics. Whoever has much to count does so in between: it holds back no evaluation.
 */
function countPayments({ clock, log, life }: Base, store: OpenedStore['store']): () => Promise<void> {
  const { pass } = createPaymentCounts({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql, { long: true }),
  });
  return async () => {
    const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
    try {
      while ((await pass(clock.now())) && clock.monotonicMs() < untilMs && !life.signal.aborted);
    } catch (error) {
      log.error({ err: error }, 'payments could not be counted; the next attempt catches up');
    }
  };
}

/** Payment metrics are the store's: every collector shows the same ones. */
function showPayments({ clock, log, telemetry }: Base, store: OpenedStore['store']): void {
  telemetry.showPayments({
    read: createTotalsReader((sql) => store.query(sql)),
    nowSeconds: () => clock.now() / 1e6,
    monotonicMs: clock.monotonicMs,
    onFolded: (metric, sets) =>
      log.warn(
        { metric, sets },
        'a payment metric has too many sets of labels: the newest are one as `other`',
      ),
    onError: (error) =>
      log.warn({ err: error }, 'payment metrics could not be read; the last ones are shown'),
  });
}

/** All that can fail comes first. */
function reload({ config, gateways, log }: Base, listeners: Listeners, fresh: LoadedConfig): void {
  const certificates = readListenerTls(fresh.http);
  const renewed = renewSecrets(config, fresh, gateways);
  listeners.renewTls(certificates);
  log.info(renewed, 'secrets and certificates were read again');
}
