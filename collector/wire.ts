import type { Logger } from 'pino';
import { withDeadline } from '../schemas/deadline.ts';
import type { RowBundle } from '../schemas/rows.ts';
import { systemClock } from '../schemas/system-clock.ts';
import type { Environment, LoadedConfig } from '../schemas/config.ts';
import { createFingerprint, type Fingerprint } from './decode/fingerprint.ts';
import { itemSpan, rootSpan } from './decode/spans.ts';
import { createCallbackAccess } from './sources/http/callback-access.ts';
import { readOrderTimeline } from '../store/order-timeline.ts';
import { handleCallbacks } from './orders/callbacks.ts';
import { countMasked } from './orders/count-masked.ts';
import { createStamp, type PipelineContext } from './orders/context.ts';
import { kafkaHandlers } from './orders/kafka-handlers.ts';
import { handleAnswer } from './orders/replies.ts';
import { callbackMessage } from './orders/produce.ts';
import { createKeeper } from './orders/ownership.ts';
import { isInShare } from './orders/assignment.ts';
import { createWatchMemory } from './orders/watch-memory.ts';
import { handleWatchRequests, judgeWatchRequests } from './orders/watch-requests.ts';
import { startAlerting } from '../alerts/start.ts';
import { acknowledgedWithin, createAdmission } from './backpressure.ts';
import type { AlertsNow } from '../console/server/console.ts';
import { startConsole } from '../console/server/start.ts';
import { createAlertStates } from '../alerts/evaluate/alert-states.ts';
import { gaugeReaders } from './telemetry/gauges.ts';
import { createHealth } from './telemetry/health.ts';
import { createKafkaInput, type KafkaInput } from './sources/kafka/input.ts';
import { createLifecycle, type Ending } from './lifecycle.ts';
import { readListenerTls, startListeners } from './sources/http/listeners.ts';
import { logEvents } from '../store/embedded/events.ts';
import { migrate, openStore, untilStoreAnswers } from '../store/open.ts';
import { createRefusals } from './sources/http/guard.ts';
import { renewSecrets } from './config/renew-secrets.ts';
import { createStoreProbe } from '../store/store-probe.ts';
import { startReports } from './telemetry/status-reporter.ts';
import { createTally } from './telemetry/report-counters.ts';
import { RULES_FOLDER, VERSION } from '../store/package-files.ts';
import { reopen } from './orders/advance.ts';
import { loadFingerprintKey } from '../store/fingerprint-key.ts';
import { createClickHouseSink } from './sinks/clickhouse/sink.ts';
import { createOtlpSender } from './sinks/otlp/sender.ts';
import { createSpanExporter, type SpanExporter } from './sinks/otlp/span-exporter.ts';
import type { Provenance } from '../schemas/sink.ts';
import { createPoller, type Poller } from './orders/poller.ts';
import { startTelemetry } from './telemetry/telemetry.ts';
import { isOtlpWanted } from './telemetry/otel-env.ts';

export interface CollectorDeps {
  readonly log: Logger;
  readonly env: Environment;
  /** Resident memory of this process. */
  readonly memoryBytes: () => number;
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
/** How the rules that the package ships stand, for the console. */
const alertsNow: AlertsNow = (source) => createAlertStates({ ...source, rulesFolder: RULES_FOLDER });
/** A sender of callbacks waits so long for its answer at most. */
const INTAKE_DEADLINE_MS = 5_000;

/**
 * The whole topology: sources -> decode -> sinks. Sinks start first, and everything stops in reverse. A
 * store, broker or gateway that is merely away is waited for.
 * @throws GatewatchError or EmbeddedStoreError when the configuration cannot work
 */
export async function startCollector(config: LoadedConfig, deps: CollectorDeps): Promise<Collector> {
  const { log, env, memoryBytes } = deps;
  const { collectorId } = config;
  const clock = systemClock;
  const stamp = createStamp(clock);
  const life = createLifecycle(log);
  const health = createHealth();
  const tally = createTally(clock);
  const telemetry = startTelemetry({ version: VERSION, collectorId, env });
  life.onStop(() => telemetry.stop(1_000));
  const { instruments } = telemetry;
  try {
    // Sinks: rows into ClickHouse, spans from what is stored there.
    const opened = await openStore(config, {
      embedded: 'serve',
      stopTimeoutMs: ENGINE_STOP_MS,
      log: logEvents(log),
    });
    life.onStop(() => opened.close());
    void opened.embedded?.down.then((error) => life.fail(error.message));
    const { store } = opened;
    const query = <T>(sql: string, params?: Readonly<Record<string, unknown>>) => store.query<T>(sql, params);
    let exporter: SpanExporter | null = null;
    // Spans of what was stored last still go out, as far as the steps before have left time; the next run
    // sends the others.
    const spansMs = () => Math.max(1_000, STOP_MS - LAST_STEPS_MS - life.endingForMs());
    life.onStop(() => exporter?.stop(Math.min(DRAIN_MS, spansMs())));
    const sink = createClickHouseSink({
      store,
      collectorId,
      maxBatchRows: config.batch.maxRows,
      maxAgeMs: config.batch.maxAgeMs,
      instruments,
      log,
      nowMicros: clock.now,
      onAcknowledged: (batchSeq) => exporter?.notify(batchSeq),
    });
    life.onStop(() => sink.stop(DRAIN_MS));
    const admit = createAdmission(sink, clock.monotonicMs);
    const write = async (bundle: RowBundle, provenance: Provenance): Promise<void> => {
      await sink.write(bundle, provenance);
      tally.acknowledged(bundle);
      countMasked(bundle, instruments);
    };

    // Decode: each step takes its input to acknowledgement.
    const gateways = new Map(config.gateways.map((gateway) => [gateway.name, gateway]));
    // Its key is in the store: nothing is taken in before it is known.
    let fingerprint: Fingerprint = () => unknownKey();
    const context: PipelineContext = {
      collectorId,
      historyDays: config.retention.historyDays,
      clock: { ...clock, now: stamp },
      random: Math.random,
      gateways,
      memory: createWatchMemory(query),
      poller: {
        takeUp: (key, watched, cause) => poller.takeUp(key, watched, cause),
        nudge: (gateway, key) => poller.nudge(gateway, key),
        get: (gateway, key) => poller.get(gateway, key),
      },
      instruments,
      fingerprint: (text) => fingerprint(text),
      write,
    };

    // Sources: status replies, Kafka, HTTP.
    const poller: Poller = createPoller({
      gateways: config.gateways,
      clock: context.clock,
      handle: (answer) => handleAnswer(answer, context),
      reopen: (order) => reopen(order, clock.now()),
      keeps: (order) => isInShare(kafka?.share() ?? null, order),
      onEvent(gateway, event) {
        if (event.type === 'circuits')
          log.warn({ gateway, open: event.open }, 'the gateway refuses our credentials or address');
        else if (!life.signal.aborted)
          log.error({ gateway, err: event.error }, 'an answer could not be stored; it is read again');
      },
    });
    const kafka: KafkaInput | null =
      config.kafka === undefined
        ? null
        : createKafkaInput(
            config.kafka,
            gateways,
            {
              ...kafkaHandlers(context, admit),
              isStoreAway: () => sink.status().state === 'retrying',
              assigned: () => keeper.changed(),
              rewind: opened.refill,
            },
            log,
          );
    const keeper = createKeeper({
      memory: context.memory,
      poller,
      collectorId,
      clock,
      share: () => kafka?.share() ?? null,
      isShared: kafka !== null,
      onError: (error) => log.debug({ err: error }, 'the watched orders could not be looked through'),
    });
    // Together: while the store is away, all of them wait for it.
    life.onStop(() => withDeadline(Promise.all([poller.stop(), keeper.stop(), kafka?.stop()]), DRAIN_MS));
    const probe = createStoreProbe({ ask: () => store.queryText('SELECT 1', 'TabSeparated'), clock });
    life.onStop(async () => probe.stop());
    const kafkaStatus = () => kafka?.source.status() ?? null;
    const console = startConsole(opened, clock, alertsNow, log);
    life.onStop(() => console.stop());
    const listeners = await startListeners(config.http, {
      api: {
        version: VERSION,
        health: () => health.alive({ kafka: kafkaStatus(), sink: sink.status() }),
        ready: () =>
          health.ready({
            kafka: kafkaStatus(),
            sink: sink.status(),
            pollers: poller.status(),
            store: probe.problem(),
          }),
        metrics: () => telemetry.renderMetrics(),
        judge: (requests) => judgeWatchRequests(requests, gateways),
        watch: (requests) =>
          health.whenReady(async () => {
            admit();
            await handleWatchRequests(requests, context, { watchRequests: requests.length });
          }),
        timeline: (wanted) => health.whenReady(() => readOrderTimeline(query, wanted)),
        annotate: (row) => health.whenReady(() => (admit(), write({ annotations: [row] }, {}))),
        now: clock.now,
        landing: console.site?.landing ?? null,
      },
      intake: {
        onReceived: () => instruments.received.add(1, { source: 'http' }),
        async accept(delivery) {
          // With Kafka a callback is durable without the store.
          if (kafka !== null)
            return kafka.produce(callbackMessage(delivery, gateways, config.kafka?.callbackBodies));
          const received = { ...delivery, receivedAt: stamp(), source: 'http', coordinates: null } as const;
          await health.whenReady(async () => {
            admit();
            const stored = handleCallbacks([received], context, { httpDeliveries: 1 });
            await acknowledgedWithin(stored, INTAKE_DEADLINE_MS);
          });
        },
      },
      console: console.site?.addRoutes ?? null,
      access: createCallbackAccess(gateways),
      onRefused: createRefusals(log, (reason) => instruments.refused.add(1, { reason }), clock.monotonicMs),
      log,
    });
    life.onStop(() => listeners.stop(1_000));

    const parts = {
      sink,
      poller,
      kafka: kafka?.source ?? null,
      exporter: () => exporter,
      lastProgressAt: tally.lastProgressAt,
    };
    telemetry.observe(gaugeReaders(parts, clock));
    const begin = async (): Promise<void> => {
      await migrate(config.retention, { store, log, signal: life.signal });
      fingerprint = createFingerprint(await loadFingerprintKey(store, stamp));
      life.signal.throwIfAborted();
      if (isOtlpWanted(env, 'TRACES')) {
        const sender = createOtlpSender({ version: VERSION, collectorId });
        const toSpans: Parameters<typeof createSpanExporter>[0]['toSpans'] = ({ events, settlements }) => [
          ...events.map(itemSpan),
          ...settlements.map(rootSpan),
        ];
        exporter = createSpanExporter({ store, collectorId, sender, toSpans, instruments, log });
      }
      health.starting('what the last run left unfinished is being completed');
      await sink.open();
      health.starting('the watched orders are being loaded');
      const resumed = await untilStoreAnswers(() => keeper.start(), { store, log, signal: life.signal });
      life.signal.throwIfAborted();
      health.started();
      await kafka?.source.start();
      const self = { collectorId, version: VERSION, clock, stamp, tally, memoryBytes };
      life.onStop(startReports({ ...parts, ...self, fail: life.fail }));
      const { alerts, gateways: gatewayConfigs } = config;
      const stopAlerting = await startAlerting({
        config: alerts,
        gateways: gatewayConfigs,
        store,
        collectorId,
        clock,
        log,
        rulesFolder: RULES_FOLDER,
        dataDir: config.dataDir,
        onOutcome: (target, outcome) => instruments.alertNotices.add(1, { target, outcome }),
      });
      // A question to a store that hangs takes its whole deadline.
      life.onStop(() => withDeadline(stopAlerting(), 1_000));
      log.info(
        { ...listeners, store: store.url, config: config.origin, resumedOrders: resumed },
        'collecting',
      );
    };
    void begin().catch((error: unknown) => life.fail((error as Error).message));
    const { http, intake } = listeners;
    const reload = (fresh: LoadedConfig): void => {
      // All that can fail comes first.
      const certificates = readListenerTls(fresh.http);
      const renewed = renewSecrets(config, fresh, gateways);
      listeners.renewTls(certificates);
      log.info(renewed, 'secrets and certificates were read again');
    };
    return { addresses: { http, intake, store: store.url }, reload, stop: life.stop, done: life.done };
  } catch (error) {
    await life.stop('start failed', 1);
    throw error;
  }
}

function unknownKey(): never {
  throw new TypeError('a text was to be fingerprinted before the key was known');
}
