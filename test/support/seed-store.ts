import { createHash } from 'node:crypto';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import type { TableResult } from '../../store/store.ts';
import { decode } from '../../collector/decode/code.ts';
import type { OrderType, Outcome } from '../../schemas/dictionary.ts';
import { DATABASE, type TableKey, TABLES } from '../../schemas/names.ts';
import type { OrderRow, PollOutcome, RejectReason, Verdict } from '../../schemas/rows.ts';
import type { SignatureCause } from '../../schemas/signature-causes.ts';
import type { TestStore } from './embedded.ts';
import { withTemplate } from './migrated-folder.ts';
import { asJson, orderRow } from './order-row.ts';

/** A store with the real schema in the real engine, filled by plain inserts with rows that a test knows. */
export interface SeededStore {
  /** Runs a SELECT as the reader, which is who Grafana is. */
  readonly query: (sql: string) => Promise<TableResult>;
  /** The same as the writer, who is the collector. */
  readonly queryAsWriter: (sql: string) => Promise<TableResult>;
  /** Runs a statement that returns nothing, as the writer. */
  readonly command: (sql: string) => Promise<void>;
  readonly seed: (seed: Seed) => Promise<void>;
  /** For a configuration: `clickhouse`. */
  readonly connection: { readonly url: string; readonly username: string; readonly password: string };
  readonly stop: () => Promise<void>;
}

export interface SeedItem {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly action: string;
  /** Epoch milliseconds of the first arrival. @default at */
  readonly observedAt?: number;
}

export interface SeedOrder {
  readonly gateway: string;
  readonly externalId: string;
  /** @default Deposit */
  readonly orderType?: OrderType;
  /** @default '' */
  readonly channel?: string;
  /** @default not known */
  readonly currency?: string;
  /** In list order. */
  readonly items: readonly SeedItem[];
}

export interface SeedCallback {
  readonly gateway: string;
  readonly externalId: string;
  /** @default Deposit */
  readonly orderType?: OrderType;
  readonly receivedAt: number;
  readonly verdict: Verdict;
  /** @default what the store makes of the verdict */
  readonly signatureCause?: SignatureCause;
  /** Distinguishes contents that are equal otherwise. @default receivedAt */
  readonly content?: string;
  /** @default delivery-1 */
  readonly deliveryId?: string;
}

export interface SeedPoll {
  readonly gateway: string;
  readonly orderId: string;
  /** @default Deposit */
  readonly orderType?: OrderType;
  readonly startedAt: number;
  readonly outcome: PollOutcome;
  readonly durationMs: number;
  /** @default 0 */
  readonly latenessMs?: number;
}

/** What a status reply said of an order. */
export interface SeedReply {
  readonly gateway: string;
  readonly externalId: string;
  /** @default Deposit */
  readonly orderType?: OrderType;
  readonly observedAt: number;
  readonly status: string;
  readonly outcome: Outcome | null;
  readonly amount: string;
  readonly currency: string;
  /** @default '' */
  readonly externalTransactionId?: string;
}

export interface Seed {
  readonly orders?: readonly SeedOrder[];
  readonly callbacks?: readonly SeedCallback[];
  readonly gatewayStatus?: readonly {
    gateway: string;
    collectorId?: string;
    reportedAt: number;
    watermarkAt: number;
    watchedOrders?: number;
    dueOrders?: number;
    circuitsOpen?: number;
    requestsPerSecond?: number;
    requestsPerSecondLimit?: number;
    requestsInFlight?: number;
    concurrencyLimit?: number;
    clockSkewSeconds?: number;
  }[];
  readonly polls?: readonly SeedPoll[];
  readonly replies?: readonly SeedReply[];
  readonly rejects?: readonly { gateway: string; reason: RejectReason; rejectedAt: number }[];
  readonly collectors?: readonly {
    collectorId: string;
    reportedAt: number;
    consumerLag: number;
    startedAt?: number;
    duplicatesTotal?: number;
  }[];
  readonly annotations?: readonly { gateway: string; title: string; startsAt: number }[];
  /** Rows of any table as they are; times as `dateTime64`. */
  readonly rows?: Readonly<Partial<Record<keyof typeof TABLES, readonly object[]>>>;
}

export async function startSeededStore(): Promise<SeededStore> {
  const store = await withTemplate('timeless');
  const before: SeededOrders = new Map();
  const writer = client(store, store.writer, DATABASE);
  const reader = client(store, store.reader, DATABASE);
  return {
    async query(sql) {
      return (await reader.query({ query: sql, format: 'JSON' })).json<Record<string, unknown>>();
    },
    async queryAsWriter(sql) {
      return (await writer.query({ query: sql, format: 'JSON' })).json<Record<string, unknown>>();
    },
    async command(sql) {
      await writer.command({ query: sql });
    },
    seed: (seed) => insertSeed(writer, seed, before),
    connection: { url: store.url, ...store.writer },
    async stop() {
      await Promise.all([writer.close(), reader.close()]);
      await store.stop();
    },
  };
}

const client = (
  store: TestStore,
  user: { username: string; password: string },
  database: string,
): ClickHouseClient => createClient({ url: store.url, ...user, database });

async function insertSeed(writer: ClickHouseClient, seed: Seed, before: SeededOrders): Promise<void> {
  const rows: Partial<Record<TableKey, object[]>> = {
    historyEvents: (seed.orders ?? []).flatMap(historyRows),
    callbackDeliveries: (seed.callbacks ?? []).map(callbackRow),
    gatewayStatus: (seed.gatewayStatus ?? []).map((report) => ({
      gateway: report.gateway,
      collector_id: report.collectorId ?? 'collector-1',
      reported_at: dateTime64(report.reportedAt),
      watermark_at: dateTime64(report.watermarkAt),
      watched_orders: report.watchedOrders ?? 0,
      due_orders: report.dueOrders ?? 0,
      circuits_open: report.circuitsOpen ?? 0,
      requests_per_second: report.requestsPerSecond ?? 0,
      requests_per_second_limit: report.requestsPerSecondLimit ?? 0,
      requests_in_flight: report.requestsInFlight ?? 0,
      concurrency_limit: report.concurrencyLimit ?? 0,
      clock_skew_seconds: report.clockSkewSeconds ?? null,
    })),
    polls: (seed.polls ?? []).map(pollRow),
    orderClaims: (seed.replies ?? []).map(claimRow),
    orders: orderRows(seed, before).map(asJson),
    rejects: (seed.rejects ?? []).map(({ gateway, reason, rejectedAt }, index) => ({
      gateway,
      reason,
      reject_id: `reject-${index}`,
      rejected_at: dateTime64(rejectedAt),
    })),
    collectorStatus: (seed.collectors ?? []).map((report) => ({
      collector_id: report.collectorId,
      reported_at: dateTime64(report.reportedAt),
      started_at: dateTime64(report.startedAt ?? 0),
      version: '0.1.0',
      consumer_lag: report.consumerLag,
      duplicates_total: report.duplicatesTotal ?? 0,
      memory_bytes: 100_000_000,
    })),
    annotations: (seed.annotations ?? []).map(({ gateway, title, startsAt }) => ({
      annotation_id: title,
      gateway,
      title,
      text: `about ${title}`,
      starts_at: dateTime64(startsAt),
      tags: ['deployment', 'test'],
    })),
  };
  for (const [key, values] of [...Object.entries(rows), ...Object.entries(seed.rows ?? {})])
    if (values.length > 0)
      await writer.insert({
        table: `${DATABASE}.${TABLES[key as TableKey]}`,
        values,
        format: 'JSONEachRow',
      });
}

/** The rows of one order's history, decoded by the collector's decoder. */
function historyRows(order: SeedOrder): object[] {
  const seen = new Map<string, number>();
  return order.items.map(({ at, action, observedAt = at }, position) => {
    const code = decode(action);
    const occurrence = seen.get(`${at}|${action}`) ?? 0;
    seen.set(`${at}|${action}`, occurrence + 1);
    const before = order.items
      .filter((item, index) => item.at <= at && index < position)
      .map((item) => item.at);
    return {
      gateway: order.gateway,
      order_type: order.orderType ?? 'Deposit',
      external_id: order.externalId,
      event_time: dateTime64(at),
      action,
      occurrence,
      channel: order.channel ?? '',
      code_format: code.format,
      stage: code.stage,
      result: code.result,
      state: code.state,
      reason_code: code.reasonCode,
      reason_group: code.reasonGroup,
      reason_detail: code.reasonDetail,
      list_position: position,
      span_start: dateTime64(Math.max(...before, ...(before.length === 0 ? [at] : []))),
      observed_at: dateTime64(observedAt),
      source: 'seed',
    };
  });
}

const callbackRow = ({
  gateway,
  externalId,
  orderType = 'Deposit',
  receivedAt,
  verdict,
  signatureCause,
  content = String(receivedAt),
  deliveryId = 'delivery-1',
}: SeedCallback): object => ({
  gateway,
  // FixedString(32) as JSON text: any 32 ASCII bytes that distinguish contents.
  content_hash: createHash('md5').update(`${gateway}|${externalId}|${content}|${verdict}`).digest('hex'),
  delivery_id: deliveryId,
  received_at: dateTime64(receivedAt),
  verdict,
  ...(signatureCause === undefined ? {} : { signature_cause: signatureCause }),
  external_id: externalId,
  order_type: orderType,
  status: 'Success',
  amount: '10.00',
});

const pollRow = (poll: SeedPoll): object => ({
  gateway: poll.gateway,
  started_at: dateTime64(poll.startedAt),
  poll_id: `${poll.gateway}|${poll.orderId}|${poll.startedAt}`,
  endpoint: 'status',
  order_type: poll.orderType ?? 'Deposit',
  order_id: poll.orderId,
  id_kind: 'external-id',
  cause: 'schedule',
  http_status: poll.outcome === 'ok' ? 200 : 503,
  outcome: poll.outcome,
  error_type: poll.outcome === 'ok' ? '' : 'http_503',
  duration_ms: poll.durationMs,
  lateness_ms: poll.latenessMs ?? 0,
});

const claimRow = (reply: SeedReply): object => ({
  gateway: reply.gateway,
  order_type: reply.orderType ?? 'Deposit',
  external_id: reply.externalId,
  observed_at: dateTime64(reply.observedAt),
  kind: 'status_reply',
  status: reply.status,
  amount: reply.amount,
  currency: reply.currency,
});

/** What was seeded of an order so far. */
interface SeededOrder {
  readonly order?: SeedOrder;
  readonly reply?: SeedReply;
  readonly row?: OrderRow;
}
type SeededOrders = Map<string, SeededOrder>;

/** The row of each order that is seeded, with all that was seeded of it before. */
function orderRows({ orders = [], replies = [] }: Seed, before: SeededOrders): OrderRow[] {
  const changed = new Set<string>();
  const keep = (one: SeedOrder | SeedReply, more: SeededOrder): void => {
    const key = keyOf(one);
    before.set(key, { ...before.get(key), ...more });
    changed.add(key);
  };
  for (const order of orders) {
    const known = before.get(keyOf(order))?.order;
    keep(order, { order: known === undefined ? order : { ...order, items: firstSeen(order, known) } });
  }
  for (const reply of replies) keep(reply, { reply });
  return Array.from(changed, (key) => {
    const seeded = before.get(key) as SeededOrder;
    const row = seededRow(seeded);
    before.set(key, { ...seeded, row });
    return row;
  });
}

const keyOf = ({ gateway, orderType = 'Deposit', externalId }: SeedOrder | SeedReply): string =>
  `${gateway}|${orderType}|${externalId}`;

/** The items of an order that is seeded again: those of before were seen when they were seen first. */
function firstSeen(order: SeedOrder, known: SeedOrder): SeedItem[] {
  const left = [...known.items];
  return order.items.map((item) => {
    const place = left.findIndex(({ at, action }) => at === item.at && action === item.action);
    return left.splice(place, place < 0 ? 0 : 1)[0] ?? item;
  });
}

function seededRow({ order, reply, row: earlier }: SeededOrder): OrderRow {
  const named = (order ?? reply) as SeedOrder | SeedReply;
  const items = (order?.items ?? []).map(({ at, action, observedAt = at }) => ({
    time: Math.round(at * 1000),
    action,
    observedAt: Math.round(observedAt * 1000),
  }));
  const said =
    reply === undefined
      ? {}
      : {
          status: reply.status,
          amount: reply.amount,
          amount_source: 'status',
          currency: reply.currency,
          currency_source: 'status',
          external_transaction_id: reply.externalTransactionId ?? '',
          ...(order === undefined ? { outcome: reply.outcome } : {}),
        };
  const seenAt = [...items.map(({ observedAt }) => observedAt), (reply?.observedAt ?? 0) * 1000];
  return orderRow(
    {
      gateway: named.gateway,
      order_type: named.orderType ?? 'Deposit',
      external_id: named.externalId,
      channel: order?.channel ?? '',
      ...(order?.currency === undefined ? {} : { currency: order.currency, currency_source: 'status' }),
      ...(earlier === undefined ? {} : { first_seen_at: earlier.first_seen_at }),
      observed_at: Math.max(...seenAt, earlier?.observed_at ?? 0),
      ...said,
    },
    items,
  );
}

/** Text of a `DateTime64(6, 'UTC')`. */
export const dateTime64 = (epochMs: number): string =>
  new Date(epochMs).toISOString().replace('T', ' ').replace('Z', '000');
