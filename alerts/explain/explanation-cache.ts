import type { Clock } from '../../schemas/clock.ts';
import { numbersOf } from '../evaluate/instance.ts';
import { type Rule, SEVERITIES } from '../rules/rule.ts';
import type { Alert } from './alert.ts';
import type { PageSettings } from './page.ts';
import { type Query, readExplanation, type Explanation } from './explanation.ts';
import { idInText } from './id-in-text.ts';
import { atRiskText, explanationText } from './explanation-text.ts';
import { secondText, timesText } from './zoned.ts';

/**
 * What pages say beside the rule's own texts: the explanation, and what is at risk. The store is asked when
 * an alert begins to fire and every five minutes after that; the answer is kept until the alert is no longer
 * sent.
 */
export interface ExplanationCache {
  /**
   * Asks about alerts that have begun to fire. Resolves when that is known, or after the deadline: a page
   * waits no longer, and goes without. Never rejects.
   */
  learn(alerts: readonly Alert[]): Promise<void>;
  /** The alerts with what is known of each. */
  annotated(alerts: readonly Alert[]): Alert[];
}

export interface ExplanationCacheOptions {
  readonly rules: readonly Rule[];
  readonly query: Query;
  readonly links: PageSettings;
  readonly clock: Clock;
  /** Ends a wait. */
  readonly signal: AbortSignal;
  /** For all that begin to fire at once, the most severe first. */
  readonly limitMs: number;
}

type Annotations = Alert['annotations'];

/** An incident moves on: what stands out and what is at risk are asked for again. */
const ASK_AGAIN_MS = 300_000;

export function createExplanationCache(options: ExplanationCacheOptions): ExplanationCache {
  const { rules, query, links, clock, signal, limitMs } = options;
  const known = new Map<string, { readonly annotations: Annotations; readonly askedMs: number }>();
  let before = Promise.resolve();

  async function ask(alerts: readonly Alert[], isLate: () => boolean): Promise<void> {
    for (const alert of alerts) {
      const rule = rules.find(({ name }) => name === alert.labels['alertname']);
      if (rule === undefined || rule.kind === 'gauge') continue;
      try {
        const explanation = await readExplanation(query, rule, numbersOf(rule, alert));
        if (isLate()) return;
        const { as_of: asOf } = alert.values;
        const annotations =
          explanation === null ? {} : annotationsOf(explanation, rule.kind, links, asOf ?? null);
        known.set(keyOf(alert), { annotations, askedMs: clock.monotonicMs() });
      } catch {
        // People learn more from `gatewatch explain`, once the store answers.
      }
      if (isLate()) return;
    }
  }

  async function learnNow(alerts: readonly Alert[]): Promise<void> {
    const keys = new Set(alerts.map(keyOf));
    for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
    const nowMs = clock.monotonicMs();
    const isOld = (alert: Alert): boolean =>
      nowMs - (known.get(keyOf(alert))?.askedMs ?? -Infinity) >= ASK_AGAIN_MS;
    const fresh = alerts.filter((alert) => alert.status === 'firing' && isOld(alert));
    if (fresh.length === 0 || signal.aborted) return;
    for (const alert of fresh)
      known.set(keyOf(alert), {
        annotations: known.get(keyOf(alert))?.annotations ?? {},
        askedMs: nowMs,
      });
    const over = Promise.withResolvers<void>();
    let late = false;
    const end = (): void => {
      late = true;
      over.resolve();
    };
    const cancel = clock.after(limitMs, end);
    signal.addEventListener('abort', end, { once: true });
    await Promise.race([over.promise, ask(fresh.toSorted(bySeverity), () => late)]);
    late = true;
    cancel();
    signal.removeEventListener('abort', end);
  }

  return {
    learn: (alerts) => (before = before.then(() => learnNow(alerts))),
    annotated: (alerts) =>
      alerts.map((alert) => ({
        ...alert,
        annotations: { ...alert.annotations, ...known.get(keyOf(alert))?.annotations },
      })),
  };
}

function annotationsOf(
  explanation: Explanation,
  kind: 'share' | 'drop',
  { externalUrl, timeZone = 'UTC' }: PageSettings,
  asOf: number | null,
): Annotations {
  const { atRisk, example } = explanation;
  const amounts = atRisk === null ? '' : atRiskText(atRisk);
  return {
    // Numbers of the page are those of each minute: these are of the one that is named.
    explanation:
      asOf === null
        ? explanationText(explanation, kind)
        : `${explanationText(explanation, kind)}\nAs of ${timesText([asOf * 1e6], timeZone, secondText)}.`,
    ...(amounts === '' ? {} : { at_risk: amounts }),
    ...(example === null
      ? {}
      : {
          example: `order ${idInText(example.externalId)}, trace ${example.traceId}`,
          example_url: `${externalUrl}${example.url}`,
        }),
  };
}

/** One that fires again is another. */
const keyOf = ({ fingerprint, startsAt }: Alert): string => `${fingerprint} ${startsAt.getTime()}`;

const bySeverity = (a: Alert, b: Alert): number => rank(a) - rank(b);
const rank = ({ labels }: Alert): number => [...SEVERITIES].findIndex((one) => one === labels['severity']);
