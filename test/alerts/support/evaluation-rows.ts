import type { AlertState } from '../../../alerts/evaluate/alert-state.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';
import { dateTime64 } from '../../support/seed-store.ts';

/** What a collector writes down about the rules, as rows for `seed`. Times are epoch milliseconds. */
interface EvaluationRow {
  readonly rule: AlertRuleName;
  readonly asOf: number;
  /** @default acme-eu */
  readonly gateway?: string;
  /** @default '' */
  readonly label?: string;
  /** @default a quarter of an hour that ends half a minute before `asOf`; of a gauge none */
  readonly window?: readonly [from: number, to: number];
  readonly seen?: number;
  readonly affected?: number;
  readonly expected?: number | null;
  readonly limit?: number;
  readonly number?: number | null;
  readonly breach?: boolean;
  readonly suppressedBy?: string;
}

const MINUTE = 60_000;
const ruleOf = (name: AlertRuleName) => {
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return rule;
};

export function evaluationRow(row: EvaluationRow): object {
  const { kind } = ruleOf(row.rule);
  const { asOf, seen = 0, affected = 0, expected = null, limit = 5 } = row;
  const [from, to] =
    row.window ?? (kind === 'gauge' ? [asOf, asOf] : [asOf - 15.5 * MINUTE, asOf - 0.5 * MINUTE]);
  const share = kind === 'share' && seen > 0 ? affected / seen : null;
  return {
    rule: row.rule,
    kind,
    gateway: row.gateway ?? 'acme-eu',
    label: row.label ?? '',
    as_of: Math.floor(asOf / 1000),
    window_from: dateTime64(from),
    window_to: dateTime64(to),
    seen,
    affected,
    expected,
    limit,
    share: kind === 'drop' && expected !== null && expected > 0 ? seen / expected : share,
    number: row.number ?? null,
    breach: row.breach === true ? 1 : 0,
    suppressed_by: row.suppressedBy ?? '',
    definition: 'test',
    evaluated_at: dateTime64(asOf + 3_000),
    evaluator: 'collector-1',
    took_ms: 100,
  };
}

/** The row that every pass has, whatever the other rules saw. */
export const passAt = (asOf: number): object =>
  evaluationRow({ rule: 'GatewatchHeartbeat', asOf, gateway: '', number: 1, limit: 0, breach: true });

interface StateRow {
  readonly rule: AlertRuleName;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: AlertState;
  readonly changedAt: number;
  readonly evaluatedAt: number;
  readonly firingSince?: number;
}

export function stateRow({ rule, labels, state, changedAt, evaluatedAt, firingSince }: StateRow): object {
  const { uid, severity } = ruleOf(rule);
  return {
    rule_uid: uid,
    rule,
    severity,
    gateway: labels['gateway'] ?? '',
    labels: JSON.stringify(labels),
    changed_at: dateTime64(changedAt),
    evaluated_at: dateTime64(evaluatedAt),
    state,
    reason: '',
    firing_since: firingSince === undefined ? null : dateTime64(firingSince),
    resolved_at: null,
    memory: '{}',
    collector_id: 'collector-1',
  };
}
