import { orderText } from '../../collector/decode/ids.ts';
import { knownLine } from '../../collector/decode/known-history.ts';
import { fromRow, type WatchMemory } from '../../collector/pipeline/watch-memory.ts';
import type { MemorySink } from '../../collector/sinks/memory.ts';
import type { OrderType } from '../../schemas/dictionary.ts';
import type { HistoryEventRow, OrderWatchRow } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';

/** The watch memory over a sink in memory: the newest state of an order wins, and the first arrival of a history item. */
export function createMemoryWatch(sink: MemorySink): WatchMemory {
  function orders(): Map<string, WatchedOrder> {
    const newest = new Map<string, OrderWatchRow>();
    for (const row of sink.rows('orderWatch')) {
      const key = watchKey(fromRow(row));
      if (row.updated_at >= (newest.get(key)?.updated_at ?? 0)) newest.set(key, row);
    }
    return new Map([...newest].map(([key, row]) => [key, fromRow(row)]));
  }
  return {
    async *active() {
      const open = [...orders().values()].filter(({ phase }) => phase === 'active' || phase === 'rereading');
      if (open.length > 0) yield open;
    },
    async find(refs) {
      const all = orders();
      return new Map(
        refs.flatMap((ref) => {
          const found = all.get(watchKey(ref));
          return found === undefined ? [] : [[watchKey(ref), found]];
        }),
      );
    },
    async known(wanted) {
      const items = new Map<string, Map<string, HistoryEventRow>>();
      for (const row of sink.rows('historyEvents')) {
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
      return new Map(
        wanted.map(orderText).flatMap((order) => {
          const found = items.get(order);
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
