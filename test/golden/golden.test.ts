import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPass } from '../../alerts/evaluate/pass.ts';
import type { Evaluation } from '../../alerts/evaluate/evaluation.ts';
import { readIncidentOrders } from '../../alerts/explain/incident-orders.ts';
import { readExplanation } from '../../alerts/explain/explanation.ts';
import { createFindings } from '../../alerts/findings/sweep.ts';
import { createPaymentCounts } from '../../alerts/metrics/payment-counts.ts';
import { createTotalsReader } from '../../alerts/metrics/totals.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { itemSpans, rootSpan } from '../../collector/decode/spans.ts';
import { readRows } from '../../collector/sinks/otlp/stored-rows.ts';
import { intervalFor } from '../../console/server/interval.ts';
import { audit } from '../../operate/audit/audit.ts';
import type { PaymentTotal } from '../../schemas/payment-metrics.ts';
import type { SqlParams } from '../../store/store.ts';
import { readOrderTimeline } from '../../store/order-timeline.ts';
import { generatedDashboards, queriesOf } from '../dashboards/generated.ts';
import { expandPanelSql } from '../support/macros.ts';
import { atNow, type GoldenStore, startGoldenStore } from './golden-store.ts';
import { COLLECTOR } from './play-story.ts';
import { shown } from './shown.ts';
import { DAY, HOUR, MINUTE, NOW, START, storyOrders } from './story.ts';

/**
 * What the product says of the story, all of it: a change of how things are kept changes none of these files.
 * Where a number should change, the file does in the same commit, and the commit says why.
 */

let store: GoldenStore;
const query = <T>(sql: string, params?: SqlParams): Promise<T[]> => store.writer.query<T>(atNow(sql), params);
const command = (sql: string): Promise<void> => store.writer.command(atNow(sql));

beforeAll(async () => {
  store = await startGoldenStore();
}, 300_000);
afterAll(() => store?.stop());

/** Instants around the incidents, and one of a quiet week. */
const INSTANTS = [
  ...Array.from({ length: 48 }, (_, n) => NOW - DAY + (n + 1) * 30 * MINUTE),
  NOW - 8 * DAY,
  NOW - 5 * MINUTE,
];
const orders = storyOrders();

const iso = (atMs: number): string => new Date(atMs).toISOString().slice(0, 16);
const golden = (name: string): string => `out/${name}.txt`;

describe('background work', () => {
  beforeAll(async () => {
    const findings = createFindings({ query, command });
    for (const at of [NOW - 4 * HOUR, NOW]) while (await findings.sweep(at)) continue;
    const counts = createPaymentCounts({ query, command });
    while (await counts.pass(NOW * 1000 + 1_000_000)) continue;
  }, 300_000);

  it('finds the same contradictions', async () => {
    const rows = await query<{ kind: string }>('SELECT * FROM findings ORDER BY ALL');
    const text = [...Map.groupBy(rows, ({ kind }) => kind)].map(([kind, some]) => shown(kind, some));
    await expect(text.join('\n\n')).toMatchFileSnapshot(golden('findings'));
  });

  it('counts the same payments', async () => {
    const { totals } = await createTotalsReader(query)();
    const text = [...Map.groupBy(totals, ({ kind }) => kind)].map(([kind, some]) =>
      shown(kind, some.map(withoutExample)),
    );
    await expect(text.toSorted().join('\n\n')).toMatchFileSnapshot(golden('payment-metrics'));
  });
});

/** Which of several orders is the example depends on the order of counting. */
const withoutExample = (total: PaymentTotal): object =>
  Object.fromEntries(Object.entries(total).filter(([key]) => key !== 'example'));

const evaluations: Evaluation[] = [];

/** Evaluating and explaining so many instants takes minutes on a busy machine. */
const EVALUATIONS_MS = 600_000;

describe('rules', () => {
  it(
    `see the same at ${INSTANTS.length} instants`,
    async () => {
      const pass = createPass({
        rules: RULES,
        query,
        evaluator: 'golden',
        now: () => NOW * 1000,
        monotonicMs: () => 0,
      });
      const text: string[] = [];
      for (const at of INSTANTS) {
        const rows = await pass(at, ['fast', 'slow']);
        evaluations.push(...rows);
        await store.writer.insert('alertEvaluations', rows);
        text.push(
          shown(iso(at), rows.map(numbersOf)),
          ...rows.filter(({ breach }) => breach === 1).map(breachText),
        );
      }
      await expect(text.join('\n')).toMatchFileSnapshot(golden('rules'));
    },
    EVALUATIONS_MS,
  );

  it(
    'name the same orders, and explain them alike',
    async () => {
      const text: string[] = [];
      for (const row of evaluations.filter(({ breach }) => breach === 1)) {
        const rule = RULES.find(({ name }) => name === row.rule) ?? expect.fail(row.rule);
        const behind = await readIncidentOrders(query, rule, row);
        if (behind !== null) expect(behind).toHaveLength(row.affected);
        text.push(shown(`${breachText(row)}: orders`, behind ?? []));
        text.push(shown(`${breachText(row)}: explanation`, [await readExplanation(query, rule, row)]));
      }
      await expect(text.join('\n')).toMatchFileSnapshot(golden('incidents'));
    },
    EVALUATIONS_MS,
  );
});

/** What a rule saw, without who evaluated it and when. */
function numbersOf({
  rule,
  gateway,
  slice,
  label,
  seen,
  affected,
  expected,
  limit,
  breach,
  ...row
}: Evaluation): object {
  const { as_of, window_from, window_to, number, suppressed_by } = row;
  return {
    rule,
    gateway,
    slice,
    label,
    seen,
    affected,
    expected,
    limit,
    breach,
    as_of,
    window_from,
    window_to,
    number,
    suppressed_by,
  };
}

const breachText = ({
  rule,
  gateway,
  slice,
  label,
  affected,
  seen,
  number,
  limit,
  as_of,
}: Evaluation): string =>
  `  ${iso(as_of / 1000)} ${rule} ${gateway} ${slice} ${label}: ${number ?? `${affected} of ${seen}`}, limit ${Number(limit.toPrecision(6))}`;

/** Panels about tables and bytes show how things are kept. */
const PHYSICAL = /Size of the store/;
/** Ranges that users look at: hours, a day, weeks. */
const RANGES = { '6 h': 6 * HOUR, '24 h': DAY, '21 days': NOW - START } as const;
const CHOSEN = orders.findLast(({ life, createdAt }) => life.items.length > 6 && createdAt < NOW - HOUR);

describe.each(generatedDashboards().map((board) => [board.uid, board] as const))(
  'dashboard %s',
  (uid, board) => {
    it('shows the same', async () => {
      const text: string[] = [];
      for (const [range, lengthMs] of Object.entries(RANGES))
        for (const { where, sql } of queriesOf(board)) {
          if (PHYSICAL.test(where)) continue;
          const context = {
            from: new Date(NOW - lengthMs),
            to: new Date(NOW),
            intervalMs: intervalFor(lengthMs, 800, '1m'),
          };
          const variables = { order_id: [CHOSEN?.externalId ?? ''] };
          const rows = await store.reader.query<object>(atNow(expandPanelSql(sql, context, variables)));
          text.push(shown(`${where}, ${range}`, rows));
        }
      await expect(text.join('\n')).toMatchFileSnapshot(golden(`dashboard-${uid}`));
    });
  },
);

describe('one order', () => {
  it('reads the same, whatever became of it', async () => {
    const scenarios = Map.groupBy(orders, ({ life }) => life.scenario);
    const text: string[] = [];
    for (const [scenario, [first]] of [...scenarios].toSorted(([a], [b]) => a.localeCompare(b))) {
      if (first === undefined) continue;
      const timeline = await readOrderTimeline(query, {
        id: first.externalId,
      });
      const { events = [], ...rest } = timeline ?? {};
      text.push(shown(`${scenario}: order`, [rest]), shown(`${scenario}: items`, events));
    }
    await expect(text.join('\n')).toMatchFileSnapshot(golden('orders'));
  });

  it('makes the same spans', async () => {
    const { events, settlements } = await readRows(store.writer, COLLECTOR, { from: 1, to: 1000 });
    const text = [
      shown('item spans', itemSpans(events.slice())),
      shown('root spans', settlements.slice().map(rootSpan)),
    ];
    await expect(text.join('\n')).toMatchFileSnapshot(golden('spans'));
  });
});

describe('the audit', () => {
  it('finds everything accounted for', async () => {
    const report = await audit({ query, nowMicros: () => NOW * 1000, pauseMs: 0 });
    expect(report.ok).toBe(true);
    await expect(JSON.stringify(report, null, 1)).toMatchFileSnapshot(golden('audit'));
  });
});
