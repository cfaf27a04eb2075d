import type { Logger } from 'pino';
import type { Clock } from '../schemas/clock.ts';
import type { AlertsConfig } from '../schemas/config-alerts.ts';
import type { GatewayConfig } from '../schemas/config.ts';
import { untilItSucceeds } from '../schemas/until-it-succeeds.ts';
import type { Store } from '../store/store.ts';
import { createEvaluator, type Evaluator } from './evaluate/evaluator.ts';
import { loadRules } from './evaluate/rule-file.ts';
import { createStateStore } from './evaluate/state-store.ts';
import { startTicker } from './evaluate/ticker.ts';
import { fileNotices } from './notify/notice-book.ts';
import type { AlertTarget, TargetOptions } from './notify/alert-target.ts';
import { createCourier, createTargets } from './notify/delivery.ts';
import { settingRows } from './settings.ts';

export interface AlertingOptions {
  readonly config: AlertsConfig;
  readonly gateways: readonly GatewayConfig[];
  /** Its schema must be in place. */
  readonly store: Pick<Store, 'query' | 'queryText' | 'insert'>;
  readonly collectorId: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Folder of rule files where none is configured. */
  readonly rulesFolder: string;
  /** Where it is kept which alerts receivers know. */
  readonly dataDir: string;
  /** Called with the outcome of each request to a target. */
  readonly onOutcome?: TargetOptions['onOutcome'];
  /** @default what is configured */
  readonly targets?: readonly AlertTarget[];
}

const SETTINGS_RETRY_MS = 30_000;
/** How often receivers are notified while one evaluation goes on. */
const NOTIFY_AGAIN_MS = 60_000;

/**
 * Writes down what the configuration says about rules; and, with `evaluate`, evaluates the rules from now on,
 * keeps their states in the store and notifies the targets. A store or a target that is away is waited for.
 *
 * @returns a function that stops it
 * @throws GatewatchError when the rules cannot be read
 */
export async function startAlerting(options: AlertingOptions): Promise<() => Promise<void>> {
  const { config, store, collectorId, clock, log } = options;
  const stopping = new AbortController();
  await writeSettings(options, stopping.signal);
  if (!config.evaluate) return async () => stopping.abort();

  const rules = loadRules(config.rulesFolder ?? options.rulesFolder);
  const couriers = targetsOf(options).map((target) => createCourier(target, log));
  const evaluator = createEvaluator({
    rules,
    externalUrl: config.externalUrl,
    runbookUrl: config.runbookUrl,
    query: async (sql) => JSON.parse(await store.queryText(sql, 'JSON')) as never,
    states: createStateStore({
      query: (sql) => store.query(sql),
      insert: (rows) => store.insert('alertStates', rows),
      collectorId,
    }),
  });
  const offer = (now: number): void => {
    const alerts = evaluator.alerts(now);
    for (const courier of couriers) courier.offer(alerts, now);
  };
  const ready = untilItSucceeds(() => evaluator.resume());
  const stopTicker = startTicker({
    clock,
    intervalsMs: evaluator.intervalsMs,
    async onTick(intervalMs, at) {
      try {
        await ready();
      } catch (error) {
        log.error({ err: error }, 'the last states of the alert rules could not be read; it is tried again');
        return;
      }
      await evaluateAndNotify({ evaluator, clock, log, offer, signal: stopping.signal }, intervalMs, at);
    },
  });
  log.info({ rules: rules.length, targets: couriers.map(({ name }) => name) }, 'evaluating alert rules');
  return async () => {
    stopping.abort();
    await stopTicker();
    await Promise.all(couriers.map((courier) => courier.idle()));
  };
}

interface Evaluation {
  readonly evaluator: Evaluator;
  readonly clock: Clock;
  readonly log: Logger;
  readonly offer: (now: number) => void;
  readonly signal: AbortSignal;
}

async function evaluateAndNotify(
  { evaluator, clock, log, offer, signal }: Evaluation,
  intervalMs: number,
  at: number,
): Promise<void> {
  const started = clock.monotonicMs();
  // A store that hangs makes an evaluation long: receivers must not take what fires for ended meanwhile.
  let offeredAt = started;
  const offerAgain = (): void => {
    if (clock.monotonicMs() - offeredAt < NOTIFY_AGAIN_MS) return;
    offeredAt = clock.monotonicMs();
    offer(clock.now() / 1000);
  };
  const failures = await evaluator.tick(intervalMs, { nowMs: at, steadyMs: started }, signal, offerAgain);
  for (const { rule, error } of failures)
    log.error({ rule, err: error }, 'an alert rule could not be evaluated');
  offer(clock.now() / 1000);
  const tookMs = Math.round(clock.monotonicMs() - started);
  log.debug({ intervalMs, tookMs, firing: Object.fromEntries(evaluator.firing()) }, 'alert rules evaluated');
  if (tookMs > intervalMs)
    log.warn({ intervalMs, tookMs }, 'evaluating the alert rules takes longer than their interval');
}

/** Resolves after the first attempt; one that fails is repeated until it succeeds or the signal ends it. */
async function writeSettings(options: AlertingOptions, signal: AbortSignal): Promise<void> {
  const { config, gateways, store, clock, log } = options;
  try {
    await store.insert('alertSettings', settingRows(config, gateways, clock.now()));
  } catch (error) {
    log.error({ err: error }, 'the settings of the alert rules could not be stored; it is tried again');
    if (signal.aborted) return;
    const cancel = clock.after(SETTINGS_RETRY_MS, () => void writeSettings(options, signal));
    signal.addEventListener('abort', cancel, { once: true });
  }
}

function targetsOf({ config, targets, dataDir, onOutcome }: AlertingOptions): readonly AlertTarget[] {
  return (
    targets ??
    createTargets(config, {
      ...(config.webhook === undefined ? {} : { notices: fileNotices(dataDir, config.webhook.url) }),
      ...(onOutcome === undefined ? {} : { onOutcome }),
    })
  );
}
