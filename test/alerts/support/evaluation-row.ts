import type { AlertRuleName } from '../../../schemas/names.ts';
import { dateTime64 } from '../../support/seed-store.ts';

/** What a rule saw, in the words of `alert_evaluations`. Times are epoch milliseconds. */
interface Seen {
  readonly rule: AlertRuleName;
  readonly kind: 'share' | 'drop' | 'gauge';
  readonly gateway: string;
  readonly slice?: string;
  readonly label?: string;
  readonly asOf: number;
  /** @default as_of */
  readonly from?: number;
  /** @default as_of */
  readonly to?: number;
  readonly seen?: number;
  readonly affected?: number;
  readonly expected?: number;
  readonly limit: number;
  readonly number?: number;
  readonly breach?: 0 | 1;
  readonly suppressedBy?: string;
}

/** A row for `seed({ rows: { alertEvaluations } })`. */
export function evaluationRow({ asOf, from = asOf, to = asOf, seen = 0, affected = 0, ...row }: Seen) {
  const outOf = row.kind === 'drop' ? (row.expected ?? 0) : seen;
  return {
    rule: row.rule,
    kind: row.kind,
    gateway: row.gateway,
    slice: row.slice ?? '',
    label: row.label ?? '',
    as_of: asOf / 1000,
    window_from: dateTime64(from),
    window_to: dateTime64(to),
    seen,
    affected,
    expected: row.expected ?? null,
    limit: row.limit,
    share: outOf > 0 ? affected / outOf : null,
    number: row.number ?? null,
    breach: row.breach ?? 0,
    suppressed_by: row.suppressedBy ?? '',
    definition: 'by hand',
    evaluated_at: dateTime64(asOf + 1000),
    evaluator: 'collector-1',
    took_ms: 1,
  };
}
