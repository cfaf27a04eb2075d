import { createHash } from 'node:crypto';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMigrator } from '../../../store/migrate.ts';
import { createStore } from '../../../store/store.ts';
import { DATABASE, TABLES } from '../../../schemas/names.ts';
import { verdictsIn } from '../../../dashboards/gateways/queries.ts';
import { type TestStore, withEmbedded } from '../../support/embedded.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 2);

interface Delivery {
  readonly content: string;
  readonly delivery: string;
  readonly at: number;
  readonly verdict: string;
}
const delivery = (content: string, at: number, verdict = 'valid', id = `${content}-${at}`): Delivery => ({
  content,
  delivery: id,
  at: START + at * DAY,
  verdict,
});

const ALL: readonly Delivery[] = [
  delivery('once', 1.1),
  delivery('forged', 1.2, 'mismatch'),
  // Sent again after the key had been put right.
  delivery('sent-again', 1.3, 'mismatch'),
  delivery('sent-again', 9.3, 'valid'),
  // First came before the range, again within it, and again after it.
  delivery('earlier', 0.2),
  delivery('earlier', 1.4),
  delivery('earlier', 8.4),
  // One delivery, read again by us after a restart.
  delivery('read-again', 1.5, 'valid', 'same'),
  delivery('read-again', 1.6, 'valid', 'same'),
  delivery('once', 2.5, 'valid_previous_key'),
  delivery('new', 1.7, 'missing_signature'),
  delivery('broken', 1.8, 'malformed'),
];
/** At another gateway. */
const ELSEWHERE = [delivery('once', 1.15, 'mismatch')];

const contents = [...new Set(ALL.map(({ content }) => content))];
const expected = contents.map((content) => {
  const own = ALL.filter((one) => one.content === content).toSorted((a, b) => a.at - b.at);
  return { external_id: content, first: own[0]?.at ?? 0, verdict: own.at(-1)?.verdict };
});

let embedded: TestStore;
let writer: ClickHouseClient;
beforeAll(async () => {
  embedded = await withEmbedded();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  await createMigrator({ store }).run();
  await store.close();
  writer = createClient({ url: embedded.url, ...embedded.writer, database: DATABASE });
  await insert(ALL);
  await insert(ELSEWHERE, 'blue-pay');
});
afterAll(async () => {
  await writer?.close();
  await embedded?.stop();
});

async function insert(deliveries: readonly Delivery[], gateway = 'acme-eu'): Promise<void> {
  const values = deliveries.map(({ content, delivery: id, at, verdict }) => {
    const hash = createHash('sha256').update(content).digest('hex');
    return `('${gateway}', unhex('${hash}'), '${id}', fromUnixTimestamp64Milli(${at}), '${verdict}', '${content}', 'Deposit')`;
  });
  await writer.command({
    query: `INSERT INTO ${TABLES.callbackDeliveries} (gateway, content_hash, delivery_id, received_at, verdict, external_id, order_type)
      SELECT * FROM (SELECT c1, c2, c3, c4, c5, c6, c7 FROM VALUES(${values.join(', ')}))`,
  });
}

async function verdicts(where: string): Promise<unknown[]> {
  const query = `SELECT external_id, toUnixTimestamp64Milli(first_received_at) AS first, toString(verdict) AS verdict, content_hash
    FROM callback_verdicts WHERE ${where} ORDER BY first_received_at`;
  const rows = await (
    await writer.query({ query, format: 'JSONEachRow' })
  ).json<{ external_id: string; first: string; verdict: string; content_hash: string }>();
  return rows.map(({ content_hash: hash, first, ...row }) => {
    expect(hash).toBe(createHash('sha256').update(row.external_id).digest('hex'));
    return { ...row, first: Number(first) };
  });
}
const byTime = (rows: typeof expected): typeof expected => rows.toSorted((a, b) => a.first - b.first);

describe.each(['as they came', 'folded'])('verdicts by time, with the copies %s', (how) => {
  beforeAll(async () => {
    if (how === 'folded') await writer.command({ query: 'OPTIMIZE TABLE callback_arrivals_store FINAL' });
  });

  it('are those of each content once: when it first came, and the verdict given last', async () => {
    expect(await verdicts(`gateway = 'acme-eu'`)).toEqual(byTime(expected));
  });

  it('of a range are of the contents that first came in it', async () => {
    const within = (from: number, to: number) => (time: string) =>
      `${time} >= fromUnixTimestamp64Milli(${START + from * DAY}) AND ${time} < fromUnixTimestamp64Milli(${START + to * DAY})`;
    for (const [from, to] of [
      [1, 2],
      [0, 1],
      [2, 10],
    ] as const) {
      const first = 'toUnixTimestamp64Milli(first_received_at)';
      const query = `SELECT ${first} AS first, verdict FROM (${verdictsIn(within(from, to), `gateway = 'acme-eu'`)}) ORDER BY first`;
      const rows = await (
        await writer.query({ query, format: 'JSONEachRow' })
      ).json<{ first: string; verdict: string }>();
      expect(rows.map((row) => ({ ...row, first: Number(row.first) }))).toEqual(
        byTime(expected)
          .filter((one) => one.first >= START + from * DAY && one.first < START + to * DAY)
          .map((one) => ({ first: one.first, verdict: one.verdict })),
      );
    }
  });

  it('of one content at two gateways are two', async () => {
    const query = `SELECT count() AS n FROM (${verdictsIn((time) => `${time} > toDateTime64(0, 6)`, '1')})`;
    const rows = await (await writer.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
    expect(Number(rows[0]?.n)).toBe(contents.length + ELSEWHERE.length);
  });

  it('are those that `callbacks` tells', async () => {
    const query = `SELECT count() AS n FROM callbacks AS c
      INNER JOIN callback_verdicts AS v ON v.content_hash = c.content_hash AND v.gateway = c.gateway
      WHERE toString(v.verdict) = toString(c.verdict) AND v.first_received_at = c.first_received_at`;
    const rows = await (await writer.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
    expect(Number(rows[0]?.n)).toBe(contents.length + ELSEWHERE.length);
  });
});
