import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPaymentCounts, nextStep } from '../../../alerts/metrics/payment-counts.ts';
import { createTotalsReader, sumsDue } from '../../../alerts/metrics/totals.ts';
import type { PaymentTotal } from '../../../schemas/payment-metrics.ts';
import { DATABASE, JOBS, PAYMENT_COUNT_TABLES, TABLES } from '../../../schemas/names.ts';
import { noteDoneByTime } from '../../../store/job-progress.ts';
import { dateTime64, type SeededStore, type SeedItem, startSeededStore } from '../../support/seed-store.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
/** Rows of the past are pruned by the store's clock. Not a minute of the long look back. */
const NOW = Math.floor(Date.now() / (10 * MINUTE)) * 10 * MINUTE - 5 * MINUTE;
const GATEWAY = 'acme-eu';

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
}, 120_000);
afterAll(() => store?.stop());
/** What was seeded of an order stays known: each test has orders of its own. */
let test = 0;
const idOf = (name: string): string => `${name}-of-${test}`;
beforeEach(async () => {
  test += 1;
  const tables = [
    ...Object.values(PAYMENT_COUNT_TABLES),
    TABLES.jobs,
    TABLES.historyEvents,
    TABLES.callbackDeliveries,
    'callback_arrivals_store',
    TABLES.orders,
    'findings_store',
  ];
  for (const table of tables) await store.command(`TRUNCATE TABLE ${DATABASE}.${table}`);
});

const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
async function pass(now = NOW): Promise<void> {
  const { pass: step } = createPaymentCounts({ query, command: store.command });
  while (await step(now * 1000)) continue;
}
const totals = async (): Promise<readonly PaymentTotal[]> => (await createTotalsReader(query)()).totals;
/** What was counted, as `kind labels: how many`, without what is 0. */
async function counted(...kinds: PaymentTotal['kind'][]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { kind, labels, counted: n } of await totals()) {
    if (kinds.length > 0 && !kinds.includes(kind)) continue;
    const name = [kind, ...labels.filter((label) => label !== '')].join(' ');
    found[name] = (found[name] ?? 0) + n;
  }
  return found;
}

/** Items by seconds after the order began, and of the reply that showed them first. */
type TimedItem = readonly [at: number, action: string, observed?: number];
const items = (began: number, timed: readonly TimedItem[]): SeedItem[] =>
  timed.map(([at, action, observed = at]) => ({
    at: began + at * 1000,
    action,
    observedAt: began + observed * 1000,
  }));
const order = (externalId: string, timed: readonly TimedItem[], began = NOW - 2 * MINUTE) =>
  store.seed({ orders: [{ gateway: GATEWAY, externalId: idOf(externalId), items: items(began, timed) }] });
const reply = (externalId: string, at: number, amount: string, currency: string) =>
  store.seed({
    replies: [
      {
        gateway: GATEWAY,
        externalId: idOf(externalId),
        observedAt: at,
        status: 'Success',
        outcome: 'succeeded',
        amount,
        currency,
      },
    ],
  });

const BEGAN = [
  [0, '1.0.0.00'],
  [1, '1.1.1.00'],
  [3, '2.1.1.00'],
] as const;
const PAID = [...BEGAN, [30, '4.1.3.00']] as const;

describe('payments', () => {
  it('are counted once, however often they are read, stored and counted', async () => {
    await order('o-1', PAID);
    await order('o-2', [...BEGAN, [9, '4.2.2.13'], [20, '4.2.2.13'], [30, '4.1.4.63']]);
    await pass();
    const once = {
      started: 2,
      'stage INTERNAL': 2,
      'stage GATEWAY_CREATE': 2,
      'stage CHECK': 2,
      'failure CHECK 13': 1,
      'failure CHECK 63': 1,
      'outcome succeeded': 1,
      'outcome issuer_decline': 1,
    };
    expect(await counted()).toEqual(once);
    await order('o-1', PAID);
    await Promise.all([pass(), pass(), pass(NOW + 1)]);
    for (let n = 1; n < 15; n += 1) await pass(NOW + n * MINUTE);
    expect(await counted()).toEqual(once);
  });

  it('measure the step into a stage and the way to the end, by the orders themselves', async () => {
    await order('o-1', PAID);
    await pass();
    const [stage, final] = [
      (await totals()).find(({ kind, labels }) => kind === 'stage' && labels[0] === 'CHECK'),
      (await totals()).find(({ kind }) => kind === 'outcome'),
    ];
    expect(stage).toMatchObject({ seconds: 27, counted: 1, bucket: Math.ceil(Math.log2(27) * 8) - 1 });
    expect(final).toMatchObject({ seconds: 30, counted: 1 });
    const trace = createHash('sha256')
      .update(`${GATEWAY}|Deposit|${idOf('o-1')}`)
      .digest('hex')
      .slice(0, 32);
    expect(final?.example).toEqual({ traceId: trace, seconds: 30, countedAt: NOW / 1000 });
  });

  it('count what comes late to the order that they have counted, also to one of days ago', async () => {
    await order('o-1', BEGAN, NOW - 3 * DAY);
    await store.command(noteDoneByTime(JOBS.payments, '', (NOW - 3 * DAY) * 1000));
    await pass(NOW - 3 * DAY + MINUTE);
    expect(await counted('started', 'outcome')).toEqual({ started: 1 });
    for (let n = 0; n < 12; n += 1) await pass(NOW - 3 * DAY + (2 + n) * MINUTE);
    await store.command(noteDoneByTime(JOBS.payments, '', (NOW - MINUTE) * 1000));
    await order('o-1', [...BEGAN, [3 * 86_400 - 60, '4.1.3.00']], NOW - 3 * DAY);
    await pass();
    expect(await counted('started', 'stage', 'outcome')).toEqual({
      started: 1,
      'stage INTERNAL': 1,
      'stage GATEWAY_CREATE': 1,
      'stage CHECK': 1,
      'outcome succeeded': 1,
    });
  });

  it('count an order that is decided otherwise later as a change, and the way back, too', async () => {
    await order('o-1', [...BEGAN, [30, '4.1.4.00']]);
    await pass();
    await order('o-1', [...BEGAN, [30, '4.1.4.00'], [50, '4.1.3.00']]);
    await pass(NOW + MINUTE);
    expect(await counted('outcome', 'change')).toEqual({
      'outcome unspecified_failure': 1,
      'change unspecified_failure succeeded': 1,
    });
    await order('o-1', [...BEGAN, [30, '4.1.4.00'], [50, '4.1.3.00'], [100, '4.1.4.00']]);
    await pass(NOW + 2 * MINUTE);
    expect(await counted('change')).toEqual({
      'change unspecified_failure succeeded': 1,
      'change succeeded unspecified_failure': 1,
    });
  });

  it('count the amount that the row with the decision has, and never without its currency', async () => {
    const began = NOW - 2 * MINUTE;
    await order('o-1', BEGAN);
    await order('o-2', PAID);
    await reply('o-1', began + 5_000, '12.30', 'EUR');
    await pass();
    expect(await counted('amount')).toEqual({});
    await reply('o-1', began + 30_000, '12.40', 'EUR');
    await order('o-1', PAID);
    await pass(NOW + MINUTE);
    await reply('o-1', began + 60_000, '99.00', 'EUR');
    await pass(NOW + 2 * MINUTE);
    expect((await totals()).filter(({ kind }) => kind === 'amount')).toMatchObject([
      { labels: ['succeeded', 'EUR'], counted: 1, amount: 12.4 },
    ]);
  });

  it('have no card number for a currency, whatever stands in the store', async () => {
    const began = NOW - 2 * MINUTE;
    await order('o-1', PAID);
    await reply('o-1', began + 30_000, '5.00', '4111111111111111');
    await pass();
    expect(JSON.stringify(await totals())).not.toContain('4111');
    expect(await counted('outcome', 'amount')).toEqual({ 'outcome succeeded': 1 });
  });

  it('count callbacks by content, and findings', async () => {
    const callback = { gateway: GATEWAY, externalId: 'o-1', receivedAt: NOW - MINUTE, content: 'a' } as const;
    await store.seed({
      callbacks: [
        { ...callback, verdict: 'valid' },
        { ...callback, verdict: 'mismatch', content: 'b' },
      ],
    });
    await pass();
    await store.seed({
      callbacks: [{ ...callback, verdict: 'valid', receivedAt: NOW + 30_000, deliveryId: 'again' }],
    });
    await store.command(
      `INSERT INTO ${DATABASE}.findings_store (gateway, order_type, external_id, kind, subject, found_at, side, judged_at) VALUES ('${GATEWAY}', 'Deposit', 'o-1', 'STATUS_DISAGREES', 'reply', '${dateTime64(NOW)}', 'gateway', '${dateTime64(NOW)}')`,
    );
    await pass(NOW + MINUTE);
    await pass(NOW + 2 * MINUTE);
    expect(await counted()).toEqual({
      'callback valid': 1,
      'callback mismatch': 1,
      'finding STATUS_DISAGREES gateway': 1,
    });
  });

  it('leave out orders of long ago, as a backfill brings them, and codes of another format', async () => {
    await order('old', PAID, NOW - 9 * DAY);
    await order('foreign', [
      [0, '1.0.0.00'],
      [1, '10.2.31.4'],
      [2, '7.0.0.00'],
    ]);
    await pass();
    expect(await counted()).toEqual({ started: 1, 'stage INTERNAL': 1 });
  });
});

describe('a step of counting', () => {
  const SECOND = 1e6;
  const at = NOW * 1000;
  it('goes on where the last one ended, and looks back for what was stored late', () => {
    expect(nextStep(at - 60 * SECOND, at)).toEqual({ from: at - 180 * SECOND, to: null });
  });
  it('looks further back now and then', () => {
    const long = at + 5 * 60 * SECOND;
    expect(nextStep(long - 60 * SECOND, long)).toEqual({ from: long - 3_660 * SECOND, to: null });
  });
  it('catches up a quarter of an hour at a time, and begins a day back at most', () => {
    expect(nextStep(at - 7_200 * SECOND, at)).toEqual({ from: at - 7_320 * SECOND, to: at - 6_300 * SECOND });
    expect(nextStep(at - 9 * 86_400 * SECOND, at).from).toBe(at - 86_520 * SECOND);
    expect(nextStep(0, at).from).toBe(at - 3_720 * SECOND);
  });
  it('makes sums of minutes that are over for a while', () => {
    expect(sumsDue(at, 0)).toBeNull();
    expect(sumsDue(at, at - 60 * SECOND)).toBeNull();
    expect(sumsDue(at, at - 190 * SECOND)).toBe(at - 180 * SECOND);
  });
});
