import type { Logger } from 'pino';
import type { Clock } from '../schemas/clock.ts';
import type { AlertsConfig } from '../schemas/config-alerts.ts';
import type { GatewayConfig } from '../schemas/config.ts';
import type { Store } from '../store/store.ts';
import { createCourier } from './notify/courier.ts';
import { createEvaluator } from './evaluate/evaluator.ts';
import { fileNotices } from './notify/notice-book.ts';
import { loadRules } from './evaluate/rule-file.ts';
import { settingRows } from './settings.ts';
import { createStateBook } from './evaluate/state-book.ts';
import type { AlertTarget, TargetOptions } from './notify/target.ts';
import { createTargets } from './notify/targets.ts';

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
  /** Where it is kept what receivers were told. */
  readonly dataDir: string;
  /** Told of each request to a target. */
  readonly onOutcome?: TargetOptions['onOutcome'];
  /** @default what is configured */
  readonly targets?: readonly AlertTarget[];
}

const SETTINGS_RETRY_MS = 30_000;
/** While one evaluation goes on, receivers are told so often. */
const TELL_AGAIN_MS = 60_000;

/**
 * Writes down what the configuration says about rules; and, with `evaluate`, evaluates the rules from now on,
 * keeps their states in the store and tells the targets. A store or a target that is away is waited for.
 *
 * @returns a function that stops it
 * @throws GatewatchError when the rules cannot be read
 */
export async function startAlerting(options: AlertingOptions): Promise<() => Promise<void>> {
  const { config, gateways, store, collectorId, clock, log } = options;
  const stopping = new AbortController();
  const writeSettings = (): Promise<void> =>
    store.insert('alertSettings', settingRows(config, gateways, clock.now())).catch((error: unknown) => {
      log.error({ err: error }, 'the settings of the alert rules could not be stored; it is tried again');
      if (stopping.signal.aborted) return;
      const cancel = clock.after(SETTINGS_RETRY_MS, () => void writeSettings());
      stopping.signal.addEventListener('abort', cancel, { once: true });
    });
  await writeSettings();
  if (!config.evaluate) return async () => stopping.abort();

  const rules = loadRules(config.rulesFolder ?? options.rulesFolder);
  const couriers = targetsOf(options).map((target) => createCourier(target, log));
  const evaluator = createEvaluator({
    rules,
    externalUrl: config.externalUrl,
    runbookUrl: config.runbookUrl,
    query: async (sql) => JSON.parse(await store.queryText(sql, 'JSON')) as never,
    book: createStateBook({
      query: (sql) => store.query(sql),
      insert: (rows) => store.insert('alertStates', rows),
      collectorId,
    }),
  });
  let resuming: Promise<void> | undefined;
  const resume = (): Promise<void> =>
    (resuming ??= evaluator.resume().catch((error: unknown) => {
      resuming = undefined;
      throw error;
    }));
  const running = new Set<Promise<void>>();
  const cancels = new Map<number, () => void>();
  const wallMs = (): number => clock.now() / 1000;

  const tell = (now: number): void => {
    const alerts = evaluator.alerts(now);
    for (const courier of couriers) courier.offer(alerts, now);
  };
  // Whole intervals since 1970, as Grafana has them. An evaluation that takes too long misses ticks, and
  // never overlaps.
  const schedule = (intervalMs: number): void => {
    const now = wallMs();
    const due = (Math.floor(now / intervalMs) + 1) * intervalMs;
    cancels.set(
      intervalMs,
      clock.after(due - now, () => {
        const work = evaluate(intervalMs, Math.floor(wallMs() / intervalMs) * intervalMs).finally(() => {
          running.delete(work);
          if (!stopping.signal.aborted) schedule(intervalMs);
        });
        running.add(work);
      }),
    );
  };
  const evaluate = async (intervalMs: number, at: number): Promise<void> => {
    const started = clock.monotonicMs();
    try {
      await resume();
    } catch (error) {
      log.error({ err: error }, 'what the alert rules knew last could not be read; it is tried again');
      return;
    }
    const instant = { now: at, steadyMs: started };
    // A store that hangs makes an evaluation long: receivers hear meanwhile that what fires has not ended.
    let toldAt = started;
    const failures = await evaluator.tick(intervalMs, instant, stopping.signal, () => {
      if (clock.monotonicMs() - toldAt < TELL_AGAIN_MS) return;
      toldAt = clock.monotonicMs();
      tell(wallMs());
    });
    for (const { rule, error } of failures)
      log.error({ rule, err: error }, 'an alert rule could not be evaluated');
    tell(wallMs());
    const tookMs = Math.round(clock.monotonicMs() - started);
    log.debug(
      { intervalMs, tookMs, firing: Object.fromEntries(evaluator.firing()) },
      'alert rules evaluated',
    );
    if (tookMs > intervalMs)
      log.warn({ intervalMs, tookMs }, 'evaluating the alert rules takes longer than their interval');
  };
  for (const intervalMs of evaluator.intervalsMs) schedule(intervalMs);
  log.info({ rules: rules.length, targets: couriers.map(({ name }) => name) }, 'evaluating alert rules');
  return async () => {
    stopping.abort();
    for (const cancel of cancels.values()) cancel();
    await Promise.allSettled(running);
    await Promise.all(couriers.map((courier) => courier.idle()));
  };
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
