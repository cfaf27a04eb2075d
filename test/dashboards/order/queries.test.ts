import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itemSpanId, rootSpanId, traceId } from '../../../collector/decode/ids.ts';
import { CALLBACKS_SQL, POLLS_SQL } from '../../../dashboards/order/queries.ts';
import { CATALOGUE } from '../../../schemas/dictionary.ts';
import { view } from '../../../schemas/measures.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { drawnPanels, generatedDashboards } from '../generated.ts';
import { callbacks, KNOWN_ID, KNOWN_ORDER, polls, type Seeded, startSeeded } from '../seeded.ts';
import { utc } from '../shape.ts';

const items = KNOWN_ORDER?.items ?? [];
const identity = {
  gateway: KNOWN_ORDER?.gateway ?? '',
  orderType: KNOWN_ORDER?.orderType ?? 'Deposit',
  externalId: KNOWN_ID,
} as const;

describe('the page of one order', () => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await startSeeded();
  });
  afterAll(() => seeded?.store.stop());
  const runPanel = (title: string, id = KNOWN_ID) => seeded.runPanel(title, { order_id: [id] });

  it('shows the head from the newest status reply', async () => {
    expect(await runPanel('The order, by its newest status reply')).toMatchObject([
      {
        gateway: identity.gateway,
        order_type: identity.orderType,
        order_id: KNOWN_ID,
        status: 'Success',
        outcome: 'succeeded',
        paid_amount: 12.5,
        paid_currency: 'EUR',
      },
    ]);
  });

  it('shows every item once, in time order, with the time since the one before', async () => {
    const rows = await runPanel('Timeline: every history item with its meaning');
    expect(rows.map((row) => [utc(row['event_time']), row['code']])).toEqual(
      items.map(({ at, action }) => [at, action]),
    );
    expect(rows.map((row) => row['since_previous'])).toEqual(
      items.map(({ at }, n) => (n === 0 ? null : (at - (items[n - 1]?.at ?? 0)) / 1000)),
    );
    // The first arrival, though all of it arrived again later.
    expect(rows.map((row) => utc(row['seen_at']))).toEqual(items.map(({ observedAt }) => observedAt));
  });

  it('says which item decides', async () => {
    const rows = await runPanel('Timeline: every history item with its meaning');
    const deciding = items.findLastIndex(({ action }) => /^\d\.\d\.[34]\./.test(action));
    expect(rows.map((row) => String(row['remark']).includes('decides'))).toEqual(
      items.map((_, n) => n === deciding),
    );
  });

  it('keeps a final state when info items follow', async () => {
    const rows = await runPanel('State of the payment and stage of work, over time');
    const names = ['INIT', 'CREATED', 'PROCESSING', 'SUCCESS', 'FAILED'];
    let final: string | undefined;
    const expected = items.map(({ action }) => {
      const state = names[Number(action.split('.')[2])];
      if (state === 'SUCCESS' || state === 'FAILED') final = state;
      return final ?? state;
    });
    expect(rows.map((row) => row['state'])).toEqual(expected);
    expect(rows.map((row) => utc(row['time']))).toEqual(items.map(({ at }) => at));
  });

  it('shows a trace with the ids of the exported spans', async () => {
    const rows = await runPanel('Trace of the order');
    expect(rows).toHaveLength(items.length + 1);
    const root = rows.find((row) => row['parentSpanID'] === '');
    const last = items.at(-1)?.at ?? 0;
    expect(root).toMatchObject({
      traceID: traceId(identity),
      spanID: rootSpanId(identity),
      duration: last - (items[0]?.at ?? 0),
      operationName: `payment ${identity.orderType}`,
    });
    const spans = rows.filter((row) => row['parentSpanID'] !== '');
    expect(new Set(spans.map((row) => row['spanID']))).toEqual(
      new Set(
        items.map(({ at, action }) => itemSpanId(identity, { eventTime: at * 1000, action, occurrence: 0 })),
      ),
    );
    for (const row of spans) {
      expect(row['parentSpanID']).toBe(rootSpanId(identity));
      expect(row['tags']).toContainEqual({ key: 'payment.code_format', value: 'v2' });
    }
  });

  it('lists callbacks once, with deliveries, and polls newest first', async () => {
    const own = callbacks.filter(({ externalId }) => externalId === KNOWN_ID);
    const shown = await runPanel('Callbacks about the order, with our verdict on their signature');
    // Seeded callbacks are of deposits.
    expect(
      shown.map((row) => [utc(row['first_received_at']), row['verdict'], row['times_delivered']]),
    ).toEqual(own.map(({ receivedAt, verdict }) => [receivedAt, verdict, 1]));
    const reads = await runPanel('Our reads of the order');
    expect(reads.map((row) => [utc(row['started_at']), row['outcome'], row['duration_ms']])).toEqual(
      polls
        .filter(({ orderId }) => orderId === KNOWN_ID)
        .toSorted((a, b) => b.startedAt - a.startedAt)
        .map(({ startedAt, outcome, durationMs }) => [startedAt, outcome, durationMs]),
    );
  });

  it('finds the callbacks among many without reading them all', async () => {
    await seeded.store.command(
      `INSERT INTO gatewatch.callback_deliveries_store (gateway, content_hash, delivery_id, received_at, verdict, external_id, source)
       SELECT 'acme-eu', SHA256(toString(number)), 'one', now64(6) - INTERVAL 20 DAY, 'valid', toString(number), 'kafka' FROM numbers(200000)`,
    );
    const { data } = await seeded.run(`${CALLBACKS_SQL}\nSETTINGS max_rows_to_read = 60000`, {
      order_id: [KNOWN_ID],
    });
    expect(data).toHaveLength(callbacks.filter(({ externalId }) => externalId === KNOWN_ID).length);
    expect(data).not.toHaveLength(0);
  });

  it('has a number of its own for each order', async () => {
    const { data } = await seeded.run(
      `SELECT count() AS orders, uniqExact(order_number) AS alike FROM ${view('orders')}`,
    );
    expect(data[0]?.['alike']).toEqual(data[0]?.['orders']);
    expect(Number(data[0]?.['orders'])).toBeGreaterThan(0);
  });

  it('finds our reads among many without reading all of the same time', async () => {
    await seeded.store.command(
      `INSERT INTO gatewatch.polls_store (gateway, started_at, poll_id, endpoint, order_type, order_id, id_kind, cause, outcome)
       SELECT 'acme-eu', (SELECT min(started_at) FROM gatewatch.polls_store) + toIntervalMillisecond(number), toString(number), 'status', 'Deposit', toString(number), 'external-id', 'schedule', 'ok'
       FROM numbers(200000)`,
    );
    const { data } = await seeded.run(`${POLLS_SQL}\nSETTINGS max_rows_to_read = 60000`, {
      order_id: [KNOWN_ID],
    });
    expect(data).toHaveLength(polls.filter(({ orderId }) => orderId === KNOWN_ID).length);
    expect(data).not.toHaveLength(0);
  });

  it('shows the same for the merchant’s id, whatever stands in it, and for a UUID in upper case', async () => {
    const merchants = "O'Brien \\\\ #1 \u{1f642}";
    const reply = { status: 'Success', outcome: 'succeeded', amount: '12.5', currency: 'EUR' } as const;
    const uuid = 'a0000000-0000-4000-8000-0000000000ff';
    const observedAt = items.at(-1)?.observedAt ?? 0;
    await seeded.store.seed({
      replies: [
        { ...reply, gateway: 'acme-eu', externalId: KNOWN_ID, externalTransactionId: merchants, observedAt },
        { ...reply, gateway: 'acme-eu', externalId: uuid, observedAt },
      ],
    });
    const board = generatedDashboards().find(({ uid }) => uid === 'gatewatch-order');
    for (const panel of board === undefined ? [] : drawnPanels(board)) {
      const own = await runPanel(panel.title);
      expect([panel.title, await runPanel(panel.title, merchants)]).toEqual([panel.title, own]);
    }
    expect(await runPanel('The order, by its newest status reply', uuid.toUpperCase())).toMatchObject([
      { order_id: uuid },
    ]);
  });

  it('shows nothing for an id that nobody knows, or none, whatever stands in it', async () => {
    const board = generatedDashboards().find(({ uid }) => uid === 'gatewatch-order');
    for (const panel of board === undefined ? [] : drawnPanels(board))
      for (const id of ['', 'unknown', "x' OR '1'='1", '\\'])
        expect(await runPanel(panel.title, id)).toEqual([]);
  });
});

describe('the views behind it', () => {
  let store: SeededStore;
  const id = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
  const at = Date.UTC(2026, 10, 21, 10, 15, 30, 250);
  beforeAll(async () => {
    store = await startSeededStore();
    await store.seed({
      orders: [
        {
          gateway: 'acme-eu',
          externalId: id,
          items: [
            { at: at - 1000, action: '1.0.0.00' },
            { at, action: '2.2.4.11' },
            { at: at + 400, action: '6.1.1.00', observedAt: at + 5000 },
            { at: at + 400, action: '6.1.1.00', observedAt: at + 5000 },
          ],
        },
      ],
    });
  });
  afterAll(() => store.stop());

  it("make the worked example's trace", async () => {
    const { data } = await store.query(
      `SELECT traceID, spanID, parentSpanID, operationName, statusCode, duration, statusMessage FROM ${view('orderTrace')} WHERE external_id = '${id}' ORDER BY startTime, parentSpanID`,
    );
    expect(data[0]).toMatchObject({
      traceID: 'e9aa68962ba7f508d810ef274ad7c745',
      spanID: 'd715956db1b89fd4',
      parentSpanID: '',
      duration: 1400,
    });
    expect(data.find((row) => row['spanID'] === '1c9b13a5a77bfaa2')).toEqual({
      traceID: 'e9aa68962ba7f508d810ef274ad7c745',
      spanID: '1c9b13a5a77bfaa2',
      parentSpanID: 'd715956db1b89fd4',
      operationName: 'payment GATEWAY_CREATE FAILURE',
      statusCode: 2,
      duration: 1000,
      statusMessage: 'Gateway did not answer the create request in time',
    });
  });

  it('mark what came after a final state was seen', async () => {
    const { data } = await store.query(
      `SELECT action, occurrence, deciding, late FROM ${view('orderTimeline')} WHERE external_id = '${id}' ORDER BY event_time, list_position`,
    );
    expect(data).toEqual([
      { action: '1.0.0.00', occurrence: 0, deciding: 0, late: 0 },
      { action: '2.2.4.11', occurrence: 0, deciding: 1, late: 0 },
      { action: '6.1.1.00', occurrence: 0, deciding: 0, late: 1 },
      { action: '6.1.1.00', occurrence: 1, deciding: 0, late: 1 },
    ]);
  });
});

it('every catalogued code has its meaning in the mapping of the timeline', () => {
  const json = JSON.stringify(generatedDashboards().find(({ uid }) => uid === 'gatewatch-order'));
  for (const { action, description } of CATALOGUE) expect(json).toContain(`${action}: ${description}`);
});
