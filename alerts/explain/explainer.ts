import type { AlertExplained } from '../../schemas/console.ts';
import type { AlertLine } from '../../schemas/alert-line.ts';
import type { EvaluationNumbers } from '../evaluate/instance.ts';
import type { Rule } from '../rules/rule.ts';
import type { EvaluationKey } from './incident-url.ts';
import { type Query, readExplanation, type Explanation } from './explanation.ts';
import { atRiskText, explanationText } from './explanation-text.ts';

export interface ExplainerOptions {
  readonly rules: readonly Rule[];
  readonly query: Query;
  readonly monotonicMs: () => number;
}

export interface ExplainedAlert extends EvaluationKey {
  readonly line: AlertLine;
  /** What the rule saw last; null where only a state is known. */
  readonly evaluation: EvaluationNumbers | null;
}

/** What explains alerts that fire, for a page that asks often. */
export interface Explainer {
  /**
   * What is known of an alert; null: nothing yet. What is not known, or old, is asked meanwhile: nobody waits
   * for it.
   */
  readonly of: (alert: ExplainedAlert) => AlertExplained | null;
  /** Asks about these alerts, the first ones first, and forgets all others. */
  readonly learn: (alerts: readonly ExplainedAlert[]) => void;
  /** Resolves when nothing is being asked. */
  readonly idle: () => Promise<void>;
}

/** Explanations cost more than the alerts themselves: so many are asked for at once, and so rarely again. */
const MOST = 5;
const AGAIN_MS = 300_000;
const AGAIN_AFTER_FAILURE_MS = 60_000;

interface Known {
  readonly askAgainAt: number;
  readonly explained: AlertExplained | null;
}

export function createExplainer({ rules, query, monotonicMs }: ExplainerOptions): Explainer {
  let known: ReadonlyMap<string, Known> = new Map();
  let asking: Promise<void> | null = null;

  async function ask(alert: ExplainedAlert, evaluation: EvaluationNumbers): Promise<Known> {
    const before = known.get(keyOf(alert))?.explained ?? null;
    const rule = rules.find(({ name }) => name === alert.rule);
    try {
      const explanation = rule === undefined ? null : await readExplanation(query, rule, evaluation);
      const kind = alert.line.numbers?.kind ?? 'gauge';
      const explained =
        explanation === null || kind === 'gauge' ? null : inWords(explanation, kind, evaluation.as_of / 1000);
      return { askAgainAt: monotonicMs() + AGAIN_MS, explained };
    } catch {
      // What was known before is better than nothing, and says of when it is.
      return { askAgainAt: monotonicMs() + AGAIN_AFTER_FAILURE_MS, explained: before };
    }
  }

  async function askAll(alerts: readonly ExplainedAlert[]): Promise<void> {
    for (const alert of alerts) {
      const { evaluation } = alert;
      if (evaluation !== null) known = new Map([...known, [keyOf(alert), await ask(alert, evaluation)]]);
    }
  }

  return {
    of: (alert) => known.get(keyOf(alert))?.explained ?? null,
    learn(alerts) {
      if (asking !== null) return;
      const keys = new Set(alerts.map(keyOf));
      known = new Map([...known].filter(([key]) => keys.has(key)));
      const due = alerts
        .filter(isExplained)
        .slice(0, MOST)
        .filter((alert) => (known.get(keyOf(alert))?.askAgainAt ?? -Infinity) <= monotonicMs());
      if (due.length > 0) asking = askAll(due).finally(() => (asking = null));
    },
    idle: async () => asking ?? undefined,
  };
}

/** While it fires and still holds: there is nothing to explain of what is over. */
const isExplained = ({ line: { state, numbers } }: ExplainedAlert): boolean =>
  state === 'Alerting' && numbers !== null && numbers.kind !== 'gauge' && numbers.breach;

/** One that fires again is another. */
const keyOf = ({ rule, gateway, slice, label, line }: ExplainedAlert): string =>
  [rule, gateway, slice, label, line.since].join('|');

const inWords = (explanation: Explanation, kind: 'share' | 'drop', asOf: number): AlertExplained => ({
  asOf,
  lines: explanationText(explanation, kind).split('\n'),
  atRisk: explanation.atRisk === null ? '' : atRiskText(explanation.atRisk),
  exampleUrl: explanation.example?.url ?? null,
});
