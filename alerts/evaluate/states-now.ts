import { settlesWithin } from '../../schemas/deadline.ts';
import type { AlertsAnswer, ConsoleAlert } from '../../schemas/console.ts';
import type { TableResult } from '../../store/store.ts';
import type { AlertInstance, RuleEvaluation } from './evaluate-rule.ts';
import { loadRules, type ProvisionedRule } from './rule-file.ts';
import { renderTemplate } from '../explain/template.ts';
import { createRuleQueries } from './rule-queries.ts';
import { storeErrorText } from '../../store/store-error-text.ts';

export interface AlertStatesOptions {
  readonly rulesFolder: string;
  readonly query: (sql: string) => Promise<TableResult>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  /** Shortest time between evaluations; Grafana's own interval is a minute. @default 20,000 */
  readonly everyMs?: number;
  /** How long a request waits while rules have no result yet; then it gets what there is. @default 700 */
  readonly firstAnswerTimeoutMs?: number;
}

/** Evaluating may take this part of the time: on a small machine panels come first. */
const SHARE_OF_TIME = 0.25;
/** Longest pause all the same: on a slow machine, too, an incident should show within about a minute. */
const MOST_PAUSE_MS = 45_000;
/**
 * Drop the last result when no request came for 90 s after the next evaluation was due; an old "no alerts"
 * would be misleading.
 */
const FORGET_AFTER_MS = 90_000;

/**
 * How the alert rules stand now, by the generated rules themselves: the same SQL and expressions, without the
 * time for which a condition must hold. Requests within `everyMs` share one evaluation; without requests
 * nothing is evaluated.
 */
export function createAlertStates(options: AlertStatesOptions): () => Promise<AlertsAnswer> {
  const { rulesFolder, query, now, monotonicMs, everyMs = 20_000, firstAnswerTimeoutMs = 700 } = options;
  const withoutTexts = createRuleQueries({ query, concurrency: 1 });
  const withTexts = createRuleQueries({ query, concurrency: 1, texts: true });
  let rules: readonly ProvisionedRule[] | null = null;
  /** By rule, from this evaluation or the one before. */
  const alerts = new Map<string, readonly ConsoleAlert[]>();
  let asOf: number | null = null;
  let error: string | null = null;
  let running: Promise<void> | null = null;
  let nextAt = -Infinity;

  async function evaluate(): Promise<void> {
    const started = monotonicMs();
    if (started - nextAt > FORGET_AFTER_MS) {
      alerts.clear();
      asOf = null;
    }
    try {
      rules ??= loadRules(rulesFolder)
        .filter(({ isPaused }) => !isPaused)
        .toSorted((a, b) => urgency(a) - urgency(b));
      const instant = now();
      const instants = [new Date(instant)];
      // One after the other: panels are waiting for the store, too.
      for (const rule of rules) {
        const [evaluation] = await withoutTexts.evaluate(rule, instants);
        const fires = evaluation?.instances.some(({ firing }) => firing) === true;
        // Numbers that only texts show are asked for while the rule fires.
        const [shown = evaluation] = fires ? await withTexts.evaluate(rule, instants) : [];
        alerts.set(rule.uid, fires && shown !== undefined ? alertsOf(shown) : []);
      }
      asOf = instant;
      error = null;
    } catch (failure) {
      error = storeErrorText(failure);
    }
    nextAt =
      monotonicMs() + Math.max(everyMs, Math.min((monotonicMs() - started) / SHARE_OF_TIME, MOST_PAUSE_MS));
  }

  return async () => {
    if (monotonicMs() >= nextAt) running ??= evaluate().finally(() => (running = null));
    if (running !== null && (rules === null || alerts.size < rules.length))
      await settlesWithin(running, firstAnswerTimeoutMs);
    return {
      alerts: [...alerts.values()].flat(),
      rules: rules?.length ?? 0,
      looked: alerts.size,
      asOf,
      error,
    };
  };
}

const urgency = ({ labels }: ProvisionedRule): number =>
  ['critical', 'warning', 'info'].indexOf(labels['severity'] ?? '') + 1 || 9;

function alertsOf({ rule, instances }: RuleEvaluation): ConsoleAlert[] {
  return instances
    .filter(({ firing }) => firing)
    .map((instance) => ({
      rule: rule.title,
      severity: rule.labels['severity'] ?? '',
      summary: textOf(rule, 'summary', instance),
      // The first sentence has the numbers; the rest is advice, which the runbook has, too.
      detail: textOf(rule, 'description', instance).replace(/^(.*?\.)\s[A-Z].*$/s, '$1'),
      labels: instance.labels,
      panelUrl: addressOf(rule, 'dashboard_url', instance),
      ordersUrl: addressOf(rule, 'orders_url', instance),
    }));
}

/** An address that the rule gives, on this page's own origin only; none while a number for it is missing. */
function addressOf(rule: ProvisionedRule, name: string, instance: AlertInstance): string | null {
  const url = textOf(rule, name, instance);
  return url.startsWith('/d/') && !url.includes('=?') ? url : null;
}

/** A text of the rule with its numbers; without a form that only Grafana renders. */
function textOf(rule: ProvisionedRule, name: string, { labels, values }: AlertInstance): string {
  try {
    return renderTemplate(rule.annotations[name] ?? '', { labels, values });
  } catch {
    return '';
  }
}
