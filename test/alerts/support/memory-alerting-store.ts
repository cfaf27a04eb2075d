import type { JobsLease } from '../../../jobs/lease.ts';
import type { Evaluation } from '../../../alerts/evaluate/evaluation.ts';
import type { Rows } from '../../../schemas/rows.ts';
import type { TableKey } from '../../../schemas/names.ts';
import type { Store } from '../../../store/store.ts';

/** What alerting asks of a store, in memory: the first row of an evaluation counts. */
export interface MemoryAlertingStore {
  readonly store: Pick<Store, 'query' | 'insert'>;
  /** How many rows of a table were inserted, and by how many statements. */
  inserted(table: TableKey): number;
  statements(table: TableKey): number;
  /** Instants that have evaluations, oldest first. */
  instants(): number[];
  readonly lease: JobsLease;
  /** Whether another collector holds the lease. */
  leaseToAnother(isTheirs: boolean): void;
}

/** `reach` is called before each statement, and may wait or throw as a store does that is away. */
export function memoryAlertingStore(reach: (kind: 'query' | 'insert') => Promise<void>): MemoryAlertingStore {
  const inserts: { readonly table: TableKey; readonly rows: number }[] = [];
  const of = (table: TableKey) => inserts.filter((one) => one.table === table);
  const evaluations = new Map<string, Evaluation>();
  const states = new Map<string, Rows['alertStates']>();
  let isTheirs = false;

  function answer(sql: string): unknown[] {
    if (sql.includes('max(as_of)'))
      return [{ newest: Math.max(0, ...[...evaluations.values()].map((row) => row.as_of)) / 1e6 }];
    if (sql.includes('alert_states_store'))
      return [...states.values()].map((row) => ({ ...row, evaluated_ms: row.evaluated_at / 1000 }));
    const [, from = ''] = /as_of >= toDateTime\((\d+)/.exec(sql) ?? [];
    if (from === '') throw new Error(`unknown statement: ${sql}`);
    return [...evaluations.values()].filter(({ as_of }) => as_of >= Number(from) * 1e6);
  }

  return {
    store: {
      async query<T>(sql: string) {
        await reach('query');
        return answer(sql) as T[];
      },
      async insert(table, rows) {
        await reach('insert');
        inserts.push({ table, rows: rows.length });
        for (const row of rows as readonly object[]) {
          if (table === 'alertStates') {
            const state = row as Rows['alertStates'];
            states.set(`${state.rule_uid} ${state.labels}`, state);
          }
          if (table !== 'alertEvaluations') continue;
          const { rule, as_of, gateway, label } = row as Evaluation;
          const key = [rule, as_of, gateway, label].join(' ');
          if (!evaluations.has(key)) evaluations.set(key, row as Evaluation);
        }
      },
    },
    inserted: (table) => of(table).reduce((sum, { rows }) => sum + rows, 0),
    statements: (table) => of(table).length,
    instants: () => [...new Set([...evaluations.values()].map(({ as_of }) => as_of / 1000))].toSorted(),
    lease: {
      async check() {
        await reach('query');
        return !isTheirs;
      },
    },
    leaseToAnother: (theirs) => void (isTheirs = theirs),
  };
}
