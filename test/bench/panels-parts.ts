import { parseArgs } from 'node:util';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DATABASE, QUARTER_TABLES } from '../../schemas/names.ts';
import { microsOfItem, quartersBetween, stageOfItem, timeOfMicros } from '../../schemas/order-quarters.ts';
import { withEmbedded } from '../support/embedded.ts';
import { expandPanelSql } from '../support/macros.ts';
import { intervalFor, queriesOfPanels } from './dashboards.ts';
import { median } from './result.ts';

/**
 * Where the price of a panel goes, and its floor: each question does one thing more than the one before it,
 * up to the panel's own, on a store that `dashboards.ts --data DIR` has loaded. The first of them ask a table
 * in which each order is one row, so that nothing has to be distinguished, and which no product could keep
 * while orders go on. One core, as a reader has.
 *
 * `node test/bench/panels-parts.ts --data DIR [--hours 720] [--rounds 3]`
 */

/** One row an order. */
const IDEAL = `${DATABASE}.bench_orders`;
const idealTable = `CREATE OR REPLACE TABLE ${IDEAL} ENGINE = MergeTree ORDER BY quarter AS
  SELECT min(k.quarter) AS quarter, any(k.gateway) AS gateway, order_number, max(k.decision) AS decision, groupArrayArray(k.failures.reason_code) AS reasons,
    arraySort(groupArrayArray(k.items)) AS items
  FROM ${DATABASE}.${QUARTER_TABLES.quarters} AS k GROUP BY order_number`;

interface Question {
  readonly what: string;
  readonly sql: string;
}

/** @param within the range as a condition on a time @param seconds of a bucket */
function ladders(within: (time: string) => string, range: string, seconds: number): Question[][] {
  const bucket = (time: string): string =>
    `toStartOfInterval(toDateTime(${time}), INTERVAL ${seconds} SECOND)`;
  const decidedAt = timeOfMicros(microsOfItem('decision'));
  const own = (title: string): Question => ({ what: `the panel: ${title}`, sql: title });
  const stage = stageOfItem('one');
  return [
    [
      {
        what: 'nothing in the range: the plan',
        sql: `SELECT max(decision) FROM ${quartersBetween('now64(6)', 'now64(6)')}`,
      },
      {
        what: 'orders, a row each, by their decision',
        sql: `SELECT ${bucket(decidedAt)} AS t, bitAnd(decision, 15) AS o, count() FROM ${IDEAL} WHERE decision > 0 AND ${within('quarter')} GROUP BY t, o`,
      },
      {
        what: 'the same, distinguished first',
        sql: `SELECT ${bucket(timeOfMicros(microsOfItem('last')))} AS t, bitAnd(last, 15) AS o, count() FROM (SELECT max(decision) AS last FROM ${IDEAL} WHERE decision > 0 AND ${within('quarter')} GROUP BY order_number) GROUP BY t, o`,
      },
      own('gatewatch-overview: Finished orders, by outcome'),
    ],
    [
      {
        what: 'reasons of failing items, a row an order',
        sql: `SELECT reason, count() FROM ${IDEAL} ARRAY JOIN arrayDistinct(reasons) AS reason WHERE ${within('quarter')} GROUP BY reason`,
      },
      {
        what: 'the same, distinguished',
        sql: `SELECT reason, uniqExact(order_number) FROM ${IDEAL} ARRAY JOIN reasons AS reason WHERE ${within('quarter')} GROUP BY reason`,
      },
      own('gatewatch-failures: Orders with failures, by reason'),
    ],
    [
      { what: 'all items read', sql: `SELECT sum(arraySum(items)) FROM ${IDEAL} WHERE ${within('quarter')}` },
      {
        what: 'first items of stages, a row an order',
        sql: `SELECT ${bucket(timeOfMicros(microsOfItem('item')))} AS t, gateway, ${stageOfItem('item')} AS digit, quantileExact(0.95)(item)
          FROM (SELECT gateway, arrayFilter((one, nth) -> nth = 1, items, arrayEnumerateUniq(arrayMap(one -> ${stage}, items))) AS firsts FROM ${IDEAL} WHERE ${within('quarter')})
          ARRAY JOIN firsts AS item GROUP BY t, gateway, digit`,
      },
      {
        what: 'the items of each order united',
        sql: `SELECT sum(length(all)) FROM (SELECT groupArrayArray(items) AS all FROM ${range} GROUP BY order_number)`,
      },
      own('gatewatch-gateways: Duration of the step into a stage, 95th percentile'),
    ],
    [
      {
        what: 'deliveries by their verdict',
        sql: `SELECT ${bucket('received_at')} AS t, verdict, count() FROM ${DATABASE}.callback_arrivals WHERE ${within('received_at')} GROUP BY t, verdict`,
      },
      own('gatewatch-gateways: Callbacks received, by signature verdict'),
    ],
    [
      {
        what: 'items by their time, repetitions not folded',
        sql: `SELECT ${bucket('event_time')} AS t, count() FROM ${DATABASE}.history_events_by_time_store WHERE ${within('event_time')} GROUP BY t`,
      },
      own('gatewatch-pipeline: Time from an item to our first sight of it'),
    ],
    [
      {
        what: 'all orders with their amounts',
        sql: `SELECT max(order_number), max(amount), max(currency) FROM ${DATABASE}.orders`,
      },
      own('gatewatch-overview: Money that something technical came between, by currency'),
    ],
    [
      own('gatewatch-pipeline: Status requests per minute, by gateway'),
      {
        what: 'the same of the requests themselves',
        sql: `SELECT ${bucket('started_at')} AS t, gateway, count() FROM ${DATABASE}.polls WHERE ${within('started_at')} GROUP BY t, gateway`,
      },
    ],
  ];
}

async function timed(
  client: ClickHouseClient,
  query: string,
  rounds: number,
  limits: object,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    await client.command({
      query: `${query} FORMAT Null`,
      clickhouse_settings: { max_threads: 1, ...limits },
    });
    if (round > 0) times.push(performance.now() - start);
  }
  return median(times);
}

/** What a reader may use, and what lies beyond it on the disk. */
const READER = {
  max_memory_usage: String(2 ** 30),
  max_bytes_before_external_group_by: String(0.75 * 2 ** 30),
};
const BOUNDLESS = { max_bytes_before_external_group_by: '0', max_bytes_ratio_before_external_group_by: 0 };

async function measure(dataDir: string, hours: number, rounds: number): Promise<void> {
  const embedded = await withEmbedded({ dataDir });
  const log = { level: ClickHouseLogLevel.ERROR };
  const client = createClient({ url: embedded.url, ...embedded.writer, request_timeout: 900_000, log });
  try {
    console.error('one row an order is made, which takes a minute for ten million');
    await client.command({ query: idealTable });
    const newest = `SELECT toUnixTimestamp64Milli(max(reported_at)) AS at FROM ${DATABASE}.gateway_status_store`;
    const [row] = await (await client.query({ query: newest, format: 'JSONEachRow' })).json<{ at: string }>();
    const to = new Date(Number(row?.at));
    const range = { from: new Date(to.getTime() - hours * 3_600_000), to };
    const [from, until] = [range.from, range.to].map(
      (at) => `toDateTime(${Math.floor(at.getTime() / 1000)})`,
    );
    const intervalMs = intervalFor(hours);
    const panels = new Map(
      queriesOfPanels().map(({ where, sql }) => [where, expandPanelSql(sql, { ...range, intervalMs }, {})]),
    );
    const within = (time: string): string => `${time} >= ${from} AND ${time} < ${until}`;
    console.log(`milliseconds over ${hours} hours: as a reader, without a reader's limit of memory`);
    for (const ladder of ladders(within, quartersBetween(from ?? '', until ?? ''), intervalMs / 1000)) {
      console.log('');
      for (const { what, sql } of ladder) {
        const query = panels.get(sql) ?? sql;
        const bound = await timed(client, query, rounds, READER);
        const boundless = await timed(client, query, rounds, BOUNDLESS);
        console.log(`${bound.toFixed(0).padStart(6)} ${boundless.toFixed(0).padStart(6)}  ${what}`);
      }
    }
    await client.command({ query: `DROP TABLE ${IDEAL}` });
  } finally {
    await client.close();
    await embedded.stop();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      hours: { type: 'string', default: '720' },
      rounds: { type: 'string', default: '3' },
    },
  });
  if (values.data === undefined) throw new Error('--data: the folder that dashboards.ts --data has loaded');
  await measure(values.data, Number(values.hours), Number(values.rounds));
}
