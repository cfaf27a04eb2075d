import { orderText } from '../../collector/decode/ids.ts';
import { knownOf, type StoredItem } from '../../collector/decode/known-history.ts';
import { isAssigned } from '../../collector/orders/assignment.ts';
import { fromRow, type WatchStore } from '../../collector/orders/watch-store.ts';
import type { MemorySink } from '../../collector/sinks/memory/sink.ts';
import type { OrderType } from '../../schemas/dictionary.ts';
import type { EpochMicros, OrderRow, OrderWatchRow } from '../../schemas/rows.ts';
import { watchKey } from '../../schemas/watch.ts';

/** The watch store over a sink in memory: the newest state and the newest row of an order win. */
export function createMemoryWatchStore(sink: MemorySink): WatchStore {
  // Rows are only ever added: each is taken in once.
  const newest = new Map<string, OrderWatchRow>();
  let watchRowsRead = 0;
  function rows(): ReadonlyMap<string, OrderWatchRow> {
    const all = sink.rows('orderWatch');
    for (const row of all.slice(watchRowsRead)) {
      const key = watchKey(fromRow(row));
      if (row.updated_at >= (newest.get(key)?.updated_at ?? 0)) newest.set(key, row);
    }
    watchRowsRead = all.length;
    return newest;
  }
  const newestOrders = new Map<string, OrderRow>();
  let orderRowsRead = 0;
  function orders(): ReadonlyMap<string, OrderRow> {
    const all = sink.rows('orders');
    for (const row of all.slice(orderRowsRead)) {
      const { gateway, order_type: orderType, external_id: externalId } = row;
      const order = orderText({ gateway, orderType: orderType as OrderType, externalId });
      if (row.observed_at >= (newestOrders.get(order)?.observed_at ?? 0)) newestOrders.set(order, row);
    }
    orderRowsRead = all.length;
    return newestOrders;
  }
  const isOpen = ({ phase }: OrderWatchRow) => phase === 'active' || phase === 'rereading';
  return {
    async *active({ assignment = null, by } = {}) {
      const open = [...rows().values()].filter(
        (row) =>
          isOpen(row) &&
          (by === undefined || row.collector_id === by) &&
          isAssigned(assignment, fromRow(row)),
      );
      if (open.length > 0) yield open.map(fromRow);
    },
    async *recent({ assignment, since, notBy }) {
      const open = [...rows().values()].filter(
        (row) =>
          isOpen(row) &&
          row.updated_at >= since &&
          row.collector_id !== notBy &&
          isAssigned(assignment, fromRow(row)),
      );
      if (open.length > 0) yield open.map(fromRow);
    },
    async find(refs) {
      const all = rows();
      return new Map(
        refs.flatMap((ref) => {
          const found = all.get(watchKey(ref));
          return found === undefined ? [] : [[watchKey(ref), fromRow(found)]];
        }),
      );
    },
    async known(wanted) {
      const all = orders();
      return new Map(
        wanted.map(orderText).flatMap((order) => {
          const row = all.get(order);
          return row === undefined
            ? []
            : [[order, { known: knownOf(itemsOf(row)), firstSeenAt: row.first_seen_at }]];
        }),
      );
    },
  };
}

const itemsOf = (row: OrderRow): StoredItem[] =>
  row['history.time'].map((time, index) => ({
    time,
    action: row['history.action'][index] as string,
    occurrence: row['history.occurrence'][index] as number,
    position: row['history.list_position'][index] as number,
    observedAt: row['history.observed_at'][index] as EpochMicros,
  }));
