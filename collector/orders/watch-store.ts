import type { OrderType } from '../../schemas/dictionary.ts';
import { TABLES } from '../../schemas/names.ts';
import type { EpochMicros, OrderWatchRow } from '../../schemas/rows.ts';
import {
  watchKey,
  type FactSource,
  type IdKind,
  type WatchedOrder,
  type WatchPhase,
  type WatchRef,
} from '../../schemas/watch.ts';
import { orderText, type OrderIdentity } from '../decode/ids.ts';
import { knownOf, type KnownHistory, type StoredItem } from '../decode/known-history.ts';
import { inPieces } from '../../store/pieces.ts';
import { assignmentCondition, type Assignment } from './assignment.ts';

/** Runs a SELECT; parameters as `{name:Type}`. */
export type Query = <T>(sql: string, params?: Readonly<Record<string, unknown>>) => Promise<T[]>;

/** Reads what earlier runs and other collectors stored about watched orders. */
export interface WatchStore {
  /**
   * Active orders, in pages: all of them, those in an assignment, or those whose newest row was written by
   * one collector.
   */
  active(of?: ActiveOf): AsyncIterable<readonly WatchedOrder[]>;
  /** Active orders in our assignment whose newest row was written since `since` by another collector. */
  recent(of: RecentOf): AsyncIterable<readonly WatchedOrder[]>;
  /** The stored state of these orders, by watch key; absent: never watched. */
  find(refs: readonly WatchRef[]): Promise<Map<string, WatchedOrder>>;
  /** What the rows of these orders say, by the text of `orderText`; absent: there is none. */
  known(orders: readonly OrderIdentity[]): Promise<Map<string, StoredOrder>>;
}

/** What is read back of an order's row. */
export interface StoredOrder {
  readonly known: KnownHistory;
  /** By which the row is stored: who writes it again must keep it. */
  readonly firstSeenAt: EpochMicros;
}

export interface ActiveOf {
  readonly assignment?: Assignment;
  readonly by?: string;
}

export interface RecentOf {
  readonly assignment: Assignment;
  readonly since: EpochMicros;
  readonly notBy: string;
}

const PAGE = 5_000;
const micros = (column: string) => `toUnixTimestamp64Micro(${column}) AS ${column}`;
const COLUMNS = `gateway, order_type, id_kind, order_id, ${micros('updated_at')}, phase, ${micros('next_poll_at')},
attempt, reread, ${micros('first_seen_at')}, ${micros('watched_since')}, ${micros('final_at')}, last_status, external_id,
external_transaction_id, channel, amount, amount_source, currency, currency_source, root_sent, collector_id`;

/** Reads the tables in the store's own database. */
export function createWatchStore(query: Query): WatchStore {
  return {
    active: (of = {}) => readActive(query, of),
    recent: (of) => readRecent(query, of),
    find: (refs) => findOrders(query, refs),
    known: (orders) => readKnownHistories(query, orders),
  };
}

async function* readActive(query: Query, of: ActiveOf): AsyncIterable<readonly WatchedOrder[]> {
  const groups = await query<Group>(`SELECT DISTINCT gateway, order_type, id_kind FROM ${TABLES.orderWatch}`);
  for (const group of groups) yield* readActiveGroup(query, group, of);
}

/**
 * The active orders of one group, in the order of the table, so that each page continues where the last one
 * ended.
 */
async function* readActiveGroup(
  query: Query,
  group: Group,
  { assignment = null, by }: ActiveOf,
): AsyncIterable<readonly WatchedOrder[]> {
  const ours = assignmentCondition(assignment);
  for (let after = ''; ;) {
    const rows = await query<OrderWatchRow>(
      `SELECT ${COLUMNS} FROM ${TABLES.orderWatch} FINAL
WHERE gateway = {gateway:String} AND order_type = {order_type:String} AND id_kind = {id_kind:String}
AND order_id > {after:String} AND phase IN ('active', 'rereading') AND ${ours.sql}
${by === undefined ? '' : 'AND collector_id = {by:String}'}
ORDER BY order_id LIMIT ${PAGE}`,
      { ...group, ...ours.params, after, ...(by === undefined ? {} : { by }) },
    );
    if (rows.length > 0) yield rows.map(fromRow);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.order_id ?? '';
  }
}

async function* readRecent(
  query: Query,
  { assignment, since, notBy }: RecentOf,
): AsyncIterable<readonly WatchedOrder[]> {
  const ours = assignmentCondition(assignment);
  // FINAL would read the whole table; the newest of the recent rows of an order is its newest row.
  const rows = await query<OrderWatchRow>(
    `SELECT ${COLUMNS} FROM
(SELECT * FROM ${TABLES.orderWatch} WHERE updated_at >= fromUnixTimestamp64Micro({since:Int64})
ORDER BY updated_at DESC LIMIT 1 BY gateway, order_type, id_kind, order_id)
WHERE phase IN ('active', 'rereading') AND collector_id != {notBy:String} AND ${ours.sql}`,
    { ...ours.params, since, notBy },
  );
  for (let from = 0; from < rows.length; from += PAGE) yield rows.slice(from, from + PAGE).map(fromRow);
}

async function findOrders(query: Query, refs: readonly WatchRef[]): Promise<Map<string, WatchedOrder>> {
  const found = new Map<string, WatchedOrder>();
  const wanted = new Set(refs.map(watchKey));
  for (const some of inPieces(refs, ({ orderId }) => [orderId])) {
    const rows = await query<OrderWatchRow>(
      `SELECT ${COLUMNS} FROM ${TABLES.orderWatch} FINAL
WHERE gateway IN {gateways:Array(String)} AND order_id IN {ids:Array(String)}`,
      { gateways: distinct(some, 'gateway'), ids: distinct(some, 'orderId') },
    );
    for (const order of rows.map(fromRow)) if (wanted.has(watchKey(order))) found.set(watchKey(order), order);
  }
  return found;
}

async function readKnownHistories(
  query: Query,
  orders: readonly OrderIdentity[],
): Promise<Map<string, StoredOrder>> {
  const found = new Map<string, StoredOrder>();
  const wanted = new Set(orders.map(orderText));
  for (const some of inPieces(orders, ({ externalId }) => [externalId])) {
    // Of a few orders the newest of all rows is found sooner than with FINAL.
    const rows = await query<StoredHistory>(
      `SELECT gateway, order_type, external_id, toUnixTimestamp64Micro(o.first_seen_at) AS first_seen_at, arrayMap(at -> toUnixTimestamp64Micro(at), o.history.time) AS times,
o.history.action AS actions, o.history.occurrence AS occurrences, o.history.list_position AS positions,
arrayMap(at -> toUnixTimestamp64Micro(at), o.history.observed_at) AS observed
FROM ${TABLES.orders} AS o
WHERE gateway IN {gateways:Array(String)} AND external_id IN {ids:Array(String)}
ORDER BY o.observed_at DESC LIMIT 1 BY gateway, order_type, external_id`,
      { gateways: distinct(some, 'gateway'), ids: distinct(some, 'externalId') },
    );
    for (const row of rows) {
      const { gateway, order_type: orderType, external_id: externalId } = row;
      const order = orderText({ gateway, orderType, externalId });
      if (wanted.has(order))
        found.set(order, { known: knownOf(itemsOf(row)), firstSeenAt: row.first_seen_at });
    }
  }
  return found;
}

const itemsOf = ({ times, actions, occurrences, positions, observed }: StoredHistory): StoredItem[] =>
  times.map((time, index) => ({
    time,
    action: actions[index] as string,
    occurrence: occurrences[index] as number,
    position: positions[index] as number,
    observedAt: observed[index] as EpochMicros,
  }));

type Group = Pick<OrderWatchRow, 'gateway' | 'order_type' | 'id_kind'>;

interface StoredHistory {
  gateway: string;
  order_type: OrderType;
  external_id: string;
  first_seen_at: EpochMicros;
  times: EpochMicros[];
  actions: string[];
  occurrences: number[];
  positions: number[];
  observed: EpochMicros[];
}

function distinct<K extends string>(all: readonly { readonly [key in K]: string }[], key: K): string[] {
  return [...new Set(all.map((one) => one[key]))];
}

/** An order from the row that persisted it. */
export function fromRow(row: OrderWatchRow): WatchedOrder {
  return {
    gateway: row.gateway,
    orderType: row.order_type as OrderType,
    idKind: row.id_kind as IdKind,
    orderId: row.order_id,
    phase: row.phase as WatchPhase,
    nextPollAt: row.next_poll_at,
    attempt: row.attempt,
    reread: row.reread,
    firstSeenAt: row.first_seen_at,
    watchedSince: row.watched_since,
    finalAt: row.final_at,
    lastStatus: row.last_status,
    externalId: row.external_id,
    externalTransactionId: row.external_transaction_id,
    channel: row.channel,
    amount: row.amount,
    amountSource: row.amount_source as FactSource | null,
    currency: row.currency,
    currencySource: row.currency_source as FactSource | null,
    rootSent: row.root_sent === 1,
  };
}

/** The row that persists an order's state. */
export function toRow(order: WatchedOrder, updatedAt: EpochMicros, collectorId: string): OrderWatchRow {
  return {
    gateway: order.gateway,
    order_type: order.orderType,
    id_kind: order.idKind,
    order_id: order.orderId,
    updated_at: updatedAt,
    phase: order.phase,
    next_poll_at: order.nextPollAt,
    attempt: order.attempt,
    reread: order.reread,
    first_seen_at: order.firstSeenAt,
    watched_since: order.watchedSince,
    final_at: order.finalAt,
    last_status: order.lastStatus,
    external_id: order.externalId,
    external_transaction_id: order.externalTransactionId,
    channel: order.channel,
    amount: order.amount,
    amount_source: order.amountSource,
    currency: order.currency,
    currency_source: order.currencySource,
    root_sent: order.rootSent ? 1 : 0,
    collector_id: collectorId,
  };
}
