import {
  type AlertMemory,
  type AlertState,
  ALERT_STATES,
  labelKey,
  type RuleMemory,
  sortedLabels,
} from './alert-state.ts';
import { parseJson } from '../../schemas/json.ts';
import { TABLES } from '../../schemas/names.ts';
import type { Rows } from '../../schemas/rows.ts';
import { z } from 'zod';
import type { Rule } from '../rules/rule.ts';

const memorySchema = z.object({
  startsAt: z.number(),
  endsAt: z.number(),
  resolvedAt: z.number().nullable(),
  firingSince: z.number().nullable(),
  /** Missing in rows of earlier versions. */
  heldMs: z.number().optional(),
  values: z.record(z.string(), z.number().nullable()),
  error: z.string(),
});

/** What a rule's alerts were, by the rule's uid. */
export type KnownAlerts = ReadonlyMap<string, RuleMemory>;

/** The newest instant whose states are among them, in milliseconds since 1970; 0: none. */
export const newestState = (known: KnownAlerts): number =>
  [...known.values()]
    .flatMap((memory) => [...memory.values()])
    .reduce((newest, { evaluatedAt }) => Math.max(newest, evaluatedAt), 0);

type Query = <T>(sql: string) => Promise<T[]>;

/** The newest state of each alert of the last five weeks, those that have ended included. */
export async function loadStates(query: Query): Promise<KnownAlerts> {
  const rows = await query<{
    rule_uid: string;
    labels: string;
    state: AlertState;
    reason: string;
    evaluated_ms: number;
    memory: string;
  }>(
    `SELECT rule_uid, labels, last.1 AS state, last.2 AS reason, last.3 AS memory, toUnixTimestamp64Milli(last.4) AS evaluated_ms
FROM
(
  SELECT rule_uid, labels, argMax((toString(state), toString(reason), memory, evaluated_at), (evaluated_at, changed_at)) AS last
  FROM ${TABLES.alertStates}
  WHERE changed_at > now64(6) - INTERVAL 35 DAY
  GROUP BY rule_uid, labels
)`,
  );
  const known = new Map<string, Map<string, AlertMemory>>();
  for (const row of rows) {
    const memory = memorySchema.safeParse(parseJson(row.memory));
    // Written by another version: the next evaluation begins anew.
    if (!memory.success || !ALERT_STATES.includes(row.state)) continue;
    const labels = z.record(z.string(), z.string()).catch({}).parse(parseJson(row.labels));
    const rule = known.get(row.rule_uid) ?? new Map<string, AlertMemory>();
    rule.set(labelKey(labels), {
      ...memory.data,
      heldMs: memory.data.heldMs ?? Math.max(0, row.evaluated_ms - memory.data.startsAt),
      missingForMs: 0,
      labels,
      state: row.state,
      reason: row.reason,
      evaluatedAt: row.evaluated_ms,
    });
    known.set(row.rule_uid, rule);
  }
  return known;
}

/** The rows that are to be written after a rule's evaluation: what changed, and what is not normal. */
export const stateRows = (
  rule: Rule,
  before: RuleMemory,
  alerts: readonly AlertMemory[],
  collectorId: string,
): Rows['alertStates'][] =>
  alerts
    .filter((alert) => {
      const was = before.get(labelKey(alert.labels));
      return alert.state !== 'Normal' || (was !== undefined && was.state !== 'Normal');
    })
    .map((alert) => stateRow(rule, alert, collectorId));

function stateRow(rule: Rule, alert: AlertMemory, collectorId: string): Rows['alertStates'] {
  // The row describes `evaluated_at`; for how long the series was missing since is no part of it.
  const { labels, state, reason, evaluatedAt, missingForMs: _, ...memory } = alert;
  const micros = (ms: number): number => Math.round(ms * 1000);
  return {
    rule_uid: rule.uid,
    rule: rule.name,
    severity: rule.severity,
    gateway: labels['gateway'] ?? '',
    labels: JSON.stringify(Object.fromEntries(sortedLabels(labels))),
    changed_at: micros(alert.startsAt),
    evaluated_at: micros(evaluatedAt),
    state,
    reason,
    firing_since: alert.firingSince === null ? null : micros(alert.firingSince),
    resolved_at: alert.resolvedAt === null ? null : micros(alert.resolvedAt),
    memory: JSON.stringify(memory),
    collector_id: collectorId,
  };
}
