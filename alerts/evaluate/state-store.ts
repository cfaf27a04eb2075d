import {
  type AlertMemory,
  type AlertState,
  ALERT_STATES,
  labelKey,
  RESOLVED_RETENTION_MS,
  type RuleMemory,
  sortedLabels,
} from './alert-state.ts';
import { parseJson } from '../../schemas/json.ts';
import { TABLES } from '../../schemas/names.ts';
import type { Rows } from '../../schemas/rows.ts';
import { z } from 'zod';
import type { ProvisionedRule } from './rule-file.ts';

/** The states of all alerts in the store, so that a restart goes on where the last evaluation was. */
export interface StateStore {
  /** What the rules knew last, by uid. Instances that have ended are left out. */
  load(): Promise<Map<string, RuleMemory>>;
  /** Writes down what changed, and what fires. */
  save(rule: ProvisionedRule, before: RuleMemory, alerts: readonly AlertMemory[]): Promise<void>;
}

export interface StateStoreOptions {
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly insert: (rows: readonly Rows['alertStates'][]) => Promise<void>;
  readonly collectorId: string;
}

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

export function createStateStore({ query, insert, collectorId }: StateStoreOptions): StateStore {
  return {
    async load() {
      const rows = await query<{
        rule_uid: string;
        labels: string;
        state: AlertState;
        reason: string;
        evaluated_ms: number;
        memory: string;
      }>(LOAD_SQL);
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
    },
    async save(rule, before, alerts) {
      const rows = alerts
        .filter((alert) => {
          const was = before.get(labelKey(alert.labels));
          return alert.state !== 'Normal' || (was !== undefined && was.state !== 'Normal');
        })
        .map((alert) => stateRow(rule, alert, collectorId));
      if (rows.length > 0) await insert(rows);
    },
  };
}

/**
 * The newest row of each instance; of those that have ended, only the ones whose end receivers may still
 * have to learn.
 */
const LOAD_SQL = `SELECT rule_uid, labels, last.1 AS state, last.2 AS reason, last.3 AS memory, toUnixTimestamp64Milli(last.4) AS evaluated_ms
FROM
(
  SELECT rule_uid, labels, argMax((toString(state), toString(reason), memory, evaluated_at), evaluated_at) AS last
  FROM ${TABLES.alertStates}
  WHERE changed_at > now64(6) - INTERVAL 35 DAY
  GROUP BY rule_uid, labels
)
WHERE state != 'Normal' OR last.4 > now64(6) - INTERVAL ${RESOLVED_RETENTION_MS / 60_000} MINUTE`;

function stateRow(rule: ProvisionedRule, alert: AlertMemory, collectorId: string): Rows['alertStates'] {
  // The row describes `evaluated_at`; for how long the series was missing since is no part of it.
  const { labels, state, reason, evaluatedAt, missingForMs: _, ...memory } = alert;
  const micros = (ms: number): number => Math.round(ms * 1000);
  return {
    rule_uid: rule.uid,
    rule: rule.title,
    severity: rule.labels['severity'] ?? '',
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
