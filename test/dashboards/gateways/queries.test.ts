import { afterAll, beforeAll, expect, it } from 'vitest';
import { STAGE_FAILURES_SQL } from '../../../dashboards/gateways/queries.ts';
import { STAGES } from '../../../schemas/dictionary.ts';
import { callbacks, FROM, orders, polls, scope, type Seeded, startSeeded, TO } from '../seeded.ts';
import { utc } from '../shape.ts';
import { failures, itemsIn, MINUTE } from '../traffic.ts';

let seeded: Seeded;
beforeAll(async () => {
  seeded = await startSeeded();
});
afterAll(() => seeded?.store.stop());
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);
const minute = (at: number): number => Math.floor(at / MINUTE) * MINUTE;

const GATEWAYS = ['acme-eu', 'blind-pay'];
const ordersAt = (gateway: string, stage: number, failed = false): number =>
  orders.filter(
    (order) =>
      order.gateway === gateway &&
      itemsIn(order, scope).some(({ code }) => code?.stage === stage && (!failed || code.result === 2)),
  ).length;

it('counts orders and failed operations by gateway and stage, per minute of what we can know', async () => {
  const rows = await runPanel('Rate, failures and durations, by gateway and stage');
  for (const gateway of GATEWAYS)
    for (const { code, name } of STAGES) {
      const seen = ordersAt(gateway, code);
      const minutes = Math.floor((scope.end(gateway) - FROM) / 1000) / 60;
      expect(rows.find((row) => row['gateway'] === gateway && row['stage'] === name)).toMatchObject({
        orders: seen,
        failed_orders: ordersAt(gateway, code, true),
        failure_share: expect.closeTo(ordersAt(gateway, code, true) / seen, 12),
        orders_per_minute: expect.closeTo(seen / minutes, 1),
      });
    }
});

it('times the step into a stage from the item before, which may lie before the range', async () => {
  const rows = await runPanel('Rate, failures and durations, by gateway and stage');
  for (const gateway of GATEWAYS)
    for (const { code, name } of STAGES) {
      const seconds = orders
        .filter((order) => order.gateway === gateway)
        .flatMap((order) => {
          const items = itemsIn(order, { ...scope, from: FROM - 60 * MINUTE });
          const first = items.findIndex((item) => item.code?.stage === code);
          const at = items[first]?.at ?? 0;
          return first > 0 && at >= FROM ? [(at - (items[first - 1]?.at ?? 0)) / 1000] : [];
        })
        .toSorted((a, b) => a - b);
      const row = rows.find((one) => one['gateway'] === gateway && one['stage'] === name);
      expect(row?.['p50']).toBe(seconds[Math.floor(seconds.length * 0.5)] ?? null);
      expect(row?.['p95']).toBe(
        seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * 0.95))] ?? null,
      );
    }
});

it('shows one stage alone when it is chosen', async () => {
  const rows = await runPanel('Orders with a failed operation, share by gateway and stage', {
    stage: ['CHECK'],
  });
  expect(new Set(rows.map((row) => row['stage']))).toEqual(new Set(['CHECK']));
  const steps = await runPanel('Duration of the step into a stage, 95th percentile', { stage: ['CHECK'] });
  expect(new Set(steps.map((row) => row['stage']))).toEqual(new Set(['CHECK']));
});

it.each([1, 7, 15, 60])('counts orders and failed operations in buckets of %i minutes', async (minutes) => {
  const length = minutes * MINUTE;
  const { data } = await seeded.run(STAGE_FAILURES_SQL, {}, length);
  const seen = orders.flatMap((order) =>
    itemsIn(order, scope).flatMap(({ at, code }) => {
      const stage = STAGES.find((one) => one.code === code?.stage);
      const place = `${Math.floor(at / length) * length} ${order.gateway} ${stage?.name ?? ''}`;
      return stage === undefined ? [] : [{ place, id: order.externalId, failed: code?.result === 2 }];
    }),
  );
  const ordersOf = (items: typeof seen): number => new Set(items.map(({ id }) => id)).size;
  const expected = [...Map.groupBy(seen, ({ place }) => place)].map(([place, items]) => {
    const failed = ordersOf(items.filter((item) => item.failed));
    return [place, { orders: ordersOf(items), share: expect.closeTo(failed / ordersOf(items), 12) }];
  });
  const found = data.map((row) => [
    `${utc(row['time'])} ${String(row['gateway'])} ${String(row['stage'])}`,
    { orders: Number(row['orders']), share: row['share'] },
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  expect(found).not.toHaveLength(0);
});

it('sets our requests beside their codes', async () => {
  const inRange = polls.filter(({ startedAt }) => startedAt >= FROM && startedAt < TO);
  const outcomes = await runPanel('Our status requests, by outcome');
  const count = (outcome: string): number =>
    outcomes.filter((row) => row['outcome'] === outcome).reduce((sum, row) => sum + Number(row['polls']), 0);
  for (const outcome of ['ok', 'unknown', 'unauthorized'])
    expect(count(outcome)).toBe(inRange.filter((poll) => poll.outcome === outcome).length);
  for (const row of await runPanel('Our status requests without a usable answer, share by gateway')) {
    const own = inRange.filter(
      ({ gateway, startedAt }) => gateway === row['gateway'] && minute(startedAt) === utc(row['time']),
    );
    expect(row['polls']).toBe(own.length);
    expect(row['share']).toBeCloseTo(
      own.filter(({ outcome }) => outcome === 'unknown').length / own.length,
      12,
    );
  }
  const theirs = await runPanel('Orders with TECH and AUTHZ codes at create and check');
  const expected = failures(orders, scope, ({ at, code }) =>
    [2, 4].includes(code.stage) && ['TECH', 'AUTHZ'].includes(code.group)
      ? `${minute(at)} ${code.group} ${code.reason}`
      : '',
  );
  expected.delete('');
  expect(
    new Map(
      theirs.map((row) => [
        `${utc(row['time'])} ${String(row['reason']).split(' ').slice(0, 2).join(' ')}`,
        row['orders'],
      ]),
    ),
  ).toEqual(expected);
});

it('counts a callback once, when it first came, and sets it beside 5.2.2.16', async () => {
  const rows = await runPanel('Callbacks received, by signature verdict');
  const inRange = callbacks.filter(({ receivedAt }) => receivedAt >= FROM && receivedAt < TO);
  expect(inRange.length).toBeLessThan(callbacks.length);
  for (const verdict of ['valid', 'mismatch'])
    expect(
      new Map(
        rows.filter((row) => row['verdict'] === verdict).map((row) => [utc(row['time']), row['callbacks']]),
      ),
    ).toEqual(
      new Map(inRange.filter((one) => one.verdict === verdict).map((one) => [minute(one.receivedAt), 1])),
    );
  const refused = await runPanel('Orders with provider callbacks that the gateway refused');
  expect(refused.reduce((sum, row) => sum + Number(row['orders']), 0)).toBe(
    orders.filter((order) => itemsIn(order, scope).some(({ action }) => action === '5.2.2.16')).length,
  );
});

const causesOf = async (panel: Seeded['runPanel']): Promise<unknown[]> =>
  (await panel('Callbacks whose signature does not match: why')).map((row) => [
    row['gateway'],
    row['signature_cause'],
    row['callbacks'],
  ]);

it('says why signatures do not match, of contents that first came in the range', async () => {
  const forged = callbacks.filter(({ verdict }) => verdict === 'mismatch');
  const inRange = forged.filter(({ receivedAt }) => receivedAt >= FROM && receivedAt < TO);
  expect(inRange.length).toBeLessThan(forged.length);
  const numbers = GATEWAYS.map((name) => inRange.filter(({ gateway }) => gateway === name).length);
  expect(new Set(await causesOf(runPanel))).toEqual(
    new Set(GATEWAYS.map((name, n) => [name, 'not_examined', numbers[n]]).filter(([, , n]) => n !== 0)),
  );
});

it('goes by the verdict given last, also where that was after the range', async () => {
  const { store, runPanel: panel } = await startSeeded([{}]);
  const insert = (content: string, at: number, verdict: string): Promise<void> =>
    store.command(`INSERT INTO gatewatch.callback_deliveries_store (gateway, content_hash, delivery_id, received_at, verdict, external_id, order_type)
      SELECT 'acme-eu', SHA256('${content}'), '${content}-${at}', fromUnixTimestamp64Milli(${at}), '${verdict}', '${content}', 'Deposit'`);
  await insert('forged-later', FROM + MINUTE, 'valid');
  await insert('forged-later', TO + MINUTE, 'mismatch');
  await insert('put-right', FROM + MINUTE, 'mismatch');
  await insert('put-right', TO + MINUTE, 'valid');
  await insert('of-before', FROM - MINUTE, 'valid');
  await insert('of-before', FROM + MINUTE, 'mismatch');
  expect(await causesOf(panel)).toEqual([['acme-eu', 'not_examined', 1]]);
  await store.stop();
});

it('times our requests', async () => {
  for (const row of (await runPanel('Duration of our status requests, by gateway')).slice(0, 40)) {
    const own = polls
      .filter(
        ({ gateway, startedAt }) => gateway === row['gateway'] && minute(startedAt) === utc(row['time']),
      )
      .map(({ durationMs }) => durationMs)
      .toSorted((a, b) => a - b);
    // Right within a hundredth.
    const middle = (own.length - 1) / 2;
    expect(row['p50']).toBeGreaterThanOrEqual(0.99 * (own[Math.floor(middle)] ?? 0));
    expect(row['p50']).toBeLessThanOrEqual(1.01 * (own[Math.ceil(middle)] ?? 0));
    expect(row['p95']).toBeGreaterThanOrEqual(Number(row['p50']));
    expect(row['p95']).toBeLessThanOrEqual(1.01 * (own.at(-1) ?? 0));
  }
});
