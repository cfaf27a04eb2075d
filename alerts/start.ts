import type { Logger } from 'pino';
import type { Clock } from '../schemas/clock.ts';
import type { AlertsConfig } from '../schemas/config-alerts.ts';
import type { GatewayConfig } from '../schemas/config.ts';
import type { EvaluatorStatus } from '../schemas/evaluator.ts';
import type { Store } from '../store/store.ts';
import { INTERVAL_MS } from './evaluate/due.ts';
import type { EvaluationPass } from './evaluate/evaluation.ts';
import { createEvaluator, type Evaluator, type PassReport } from './evaluate/evaluator.ts';
import { createLateAlert } from './evaluate/late-alert.ts';
import { createExplanationCache, type ExplanationCache } from './explain/explanation-cache.ts';
import {
  fileNotifications,
  LATE_NOTIFICATIONS_FILE,
  NOTIFICATIONS_FILE,
} from './notify/notification-store.ts';
import type { AlertTarget, TargetOptions } from './notify/alert-target.ts';
import { type Sender, createSender, createTargets } from './notify/delivery.ts';
import { createStory, type Story } from './notify/story.ts';
import type { Rule } from './rules/rule.ts';
import { settingRows } from './settings.ts';

export interface AlertingOptions {
  readonly config: AlertsConfig;
  readonly gateways: readonly GatewayConfig[];
  /** Its schema must be in place. */
  readonly store: Pick<Store, 'query' | 'insert'>;
  readonly rules: readonly Rule[];
  /** Works out what the rules see. */
  readonly pass: EvaluationPass;
  readonly collectorId: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Holds the files that say which alerts receivers know. */
  readonly dataDir: string;
  /** Called with the outcome of each request to a target. */
  readonly onOutcome?: TargetOptions['onOutcome'];
  /** Called after each pass. */
  readonly onPass?: (pass: PassReport) => void;
  /** @default what is configured */
  readonly targets?: readonly AlertTarget[];
}

export interface Alerting {
  /** What is to be run once a minute, by one collector at a time. */
  readonly evaluation: Pick<Evaluator, 'run' | 'standBy'>;
  /** @param run how the evaluation does as a job */
  status(run: Pick<EvaluatorStatus, 'holdsLease' | 'lastError'>): EvaluatorStatus;
  /** Ends what is being sent. */
  stop(): Promise<void>;
}

const SETTINGS_RETRY_MS = 30_000;
/** How long a page waits for its explanation. */
const EXPLANATION_LIMIT_MS = 5_000;
/** How long it waits to learn of silences; those that were known before count then. */
const STORY_LIMIT_MS = 2_000;
/** How often receivers get what fires at least, since they forget what is not repeated. */
const NOTIFY_AGAIN_MS = 60_000;

/**
 * Writes down what the configuration says about rules, and prepares their evaluation. With `evaluate`,
 * targets are notified from now on, also when nothing is evaluated. A store or a target that is away is
 * waited for.
 */
export async function startAlerting(options: AlertingOptions): Promise<Alerting> {
  const { config, store, rules, clock, log } = options;
  const stopping = new AbortController();
  await writeSettings(options, stopping.signal);
  const sendersWith = (notificationsFile: string) =>
    (config.evaluate ? targetsOf(options, notificationsFile) : []).map((target) => createSender(target, log));
  const senders = sendersWith(NOTIFICATIONS_FILE);
  // Of their own: a collector that cannot evaluate does not know what else fires, and must not end it.
  const lateSenders = sendersWith(LATE_NOTIFICATIONS_FILE);
  const lateAlert = createLateAlert(config, clock.monotonicMs());
  const explanations = createExplanationCache({
    rules,
    // No page waits for what takes longer: the store need not go on with it.
    query: (sql) => store.query(sql, {}, { max_execution_time: EXPLANATION_LIMIT_MS / 1000 }),
    limitMs: EXPLANATION_LIMIT_MS,
    links: config,
    clock,
    signal: stopping.signal,
  });
  const story = createStory({
    query: async (sql) => ({ data: await store.query<Record<string, unknown>>(sql) }),
    clock,
    timeZone: config.timeZone,
    limitMs: STORY_LIMIT_MS,
  });
  let sending = Promise.resolve();
  const offers = offerWhatFires({
    clock,
    signal: stopping.signal,
    offer() {
      sending = send(evaluator, { explanations, story, senders, clock });
      const now = clock.now() / 1000;
      const newestAsOfMs = evaluator.newestAsOfMs();
      const late = lateAlert({ newestAsOfMs, wallMs: now, steadyMs: clock.monotonicMs() });
      // The end of what was sent before a restart, too; but not before it is known that it is over.
      if (late.length > 0 || newestAsOfMs !== null) {
        const alerts = story.held(late, now);
        for (const sender of lateSenders) sender.offer(alerts, now, null);
      }
    },
  });
  const evaluator = createEvaluator({
    ...options,
    page: config,
    onChange: offers.now,
    onPass(pass) {
      options.onPass?.(pass);
      report(log, pass);
    },
  });
  log.info({ rules: rules.length, targets: senders.map(({ name }) => name) }, 'evaluating alert rules');
  const startedAt = clock.now();
  return {
    evaluation: evaluator,
    status(run) {
      const newestAsOfMs = evaluator.newestAsOfMs();
      const newestAsOf = newestAsOfMs === null ? null : newestAsOfMs * 1000;
      const ageSeconds = Math.max(0, (clock.now() - (newestAsOf ?? startedAt)) / 1e6);
      return { ...run, newestAsOf, ageSeconds, firing: Object.fromEntries(evaluator.firing()) };
    },
    async stop() {
      stopping.abort();
      await sending;
      await Promise.all([...senders, ...lateSenders].map((sender) => sender.idle()));
    },
  };
}

interface Senders {
  readonly explanations: ExplanationCache;
  readonly story: Story;
  readonly senders: readonly Sender[];
  readonly clock: Clock;
}

/** Offers receivers what fires, with the explanations, incidents and silences that are known in time. */
async function send(evaluator: Evaluator, { explanations, story, senders, clock }: Senders): Promise<void> {
  const known = senders.length === 0 ? null : evaluator.alerts(clock.now() / 1000);
  // Another collector sends: what it knows is newer.
  if (known === null) return;
  await Promise.all([explanations.learn(known), story.learn()]);
  const now = clock.now() / 1000;
  const alerts = evaluator.alerts(now);
  if (alerts === null) return;
  const stories = story.annotated(explanations.annotated(alerts), now);
  for (const sender of senders) sender.offer(stories, now, story.silences());
}

function report(log: Logger, { asOfMs, tookMs, missed }: PassReport): void {
  const asOf = new Date(asOfMs).toISOString();
  if (missed > 0)
    log.warn({ asOf, missed }, 'minutes were too long ago to evaluate the alert rules for them');
  if (tookMs > INTERVAL_MS)
    log.warn({ asOf, tookMs: Math.round(tookMs) }, 'evaluating the alert rules takes longer than a minute');
}

interface Offers {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly offer: () => void;
}

/** Offers at once what has changed, and otherwise again and again, also while a store hangs. */
function offerWhatFires({ clock, signal, offer }: Offers): { readonly now: () => void } {
  let cancel = (): void => {};
  const wait = (): void => {
    cancel();
    if (!signal.aborted) cancel = clock.after(NOTIFY_AGAIN_MS, now);
  };
  const now = (): void => {
    offer();
    wait();
  };
  signal.addEventListener('abort', () => cancel(), { once: true });
  wait();
  return { now };
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

function targetsOf(
  { config, targets, dataDir, onOutcome }: AlertingOptions,
  notificationsFile: string,
): readonly AlertTarget[] {
  return (
    targets ??
    createTargets(config, {
      ...(config.webhook === undefined
        ? {}
        : { notifications: fileNotifications(dataDir, config.webhook.url, notificationsFile) }),
      ...(onOutcome === undefined ? {} : { onOutcome }),
    })
  );
}
