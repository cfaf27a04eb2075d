import { orderText } from '../../collector/decode/ids.ts';
import { knownLine } from '../../collector/decode/known-history.ts';
import { isAssigned } from '../../collector/orders/assignment.ts';
import { fromRow, type WatchStore } from '../../collector/orders/watch-store.ts';
import type { MemorySink } from '../../collector/sinks/memory/sink.ts';
import type { OrderType } from '../../schemas/dictionary.ts';
import type { HistoryEventRow, OrderWatchRow } from '../../schemas/rows.ts';
import { watchKey } from '../../schemas/watch.ts';

/**
 * The watch store over a sink in memory: the newest state of an order wins, and the first arrival of a
 * history item.
 */
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
  const items = new Map<string, Map<string, HistoryEventRow>>();
  let historyRowsRead = 0;
  function itemsByOrder(): ReadonlyMap<string, ReadonlyMap<string, HistoryEventRow>> {
    const all = sink.rows('historyEvents');
    for (const row of all.slice(historyRowsRead)) {
      const order = orderText({
        gateway: row.gateway,
        orderType: row.order_type as OrderType,
        externalId: row.external_id,
      });
      const itemsOfOrder = items.get(order) ?? new Map<string, HistoryEventRow>();
      items.set(order, itemsOfOrder);
      const item = `${row.event_time}|${row.action}|${row.occurrence}`;
      const before = itemsOfOrder.get(item);
      if (before === undefined || row.observed_at < before.observed_at) itemsOfOrder.set(item, row);
    }
    historyRowsRead = all.length;
    return items;
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
      const all = itemsByOrder();
      return new Map(
        wanted.map(orderText).flatMap((order) => {
          const found = all.get(order);
          if (found === undefined) return [];
          const lines = Array.from(found.values(), (row) =>
            knownLine({
              time: row.event_time,
              action: row.action,
              occurrence: row.occurrence,
              position: row.list_position,
            }),
          );
          return [[order, lines.join('\n')]];
        }),
      );
    },
  };
}
