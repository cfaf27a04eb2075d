import { decode } from '../../collector/decode/code.ts';
import { foldOrder } from '../../collector/decode/fold-order.ts';
import type { OrderType } from '../../schemas/dictionary.ts';
import type { EpochMicros, OrderRow, SettlementRow } from '../../schemas/rows.ts';
import { T0, watchedOrder } from './watched-order.ts';

/** An item of a history in list order. */
export interface HistoryItem {
  readonly time: EpochMicros;
  readonly action: string;
  /** @default its time */
  readonly observedAt?: EpochMicros;
}

/** The row of an order with this history, as the collector makes it; and what a test says otherwise. */
export function orderRow(change: Partial<OrderRow> = {}, items: readonly HistoryItem[] = []): OrderRow {
  const seen = new Map<string, number>();
  const history = items.map(({ time, action, observedAt = time }, position) => {
    const pair = `${time}|${action}`;
    const occurrence = seen.get(pair) ?? 0;
    seen.set(pair, occurrence + 1);
    return { time, code: decode(action), occurrence, position, observedAt };
  });
  const order = watchedOrder({
    gateway: change.gateway ?? 'acme-eu',
    orderType: (change.order_type ?? 'Deposit') as OrderType,
    orderId: change.external_id ?? 'order-1',
    firstSeenAt: change.first_seen_at ?? history[0]?.observedAt ?? change.observed_at ?? T0,
  });
  return { ...foldOrder(order, history, history.at(-1)?.observedAt ?? order.firstSeenAt), ...change };
}

/** The row of a closed order, which says what its settlement does. */
export const closedOrder = ({
  kind,
  settled_at,
  first_event_at,
  last_event_at,
  ...row
}: SettlementRow): OrderRow =>
  orderRow({
    ...row,
    created_at: first_event_at,
    last_item_at: last_event_at,
    settled_at: kind === 'settled' ? settled_at : null,
    abandoned_at: kind === 'abandoned' ? settled_at : null,
  });

const TIME = /(?:_at|\.time)$/;

/** The row as JSON that ClickHouse reads: times as text. */
export function asJson(row: OrderRow): Record<string, unknown> {
  const text = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(text);
    return typeof value === 'number' ? dateTime64Micros(value) : value;
  };
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, TIME.test(name) ? text(value) : value]),
  );
}

/** Text of a `DateTime64(6, 'UTC')`. */
function dateTime64Micros(micros: EpochMicros): string {
  const second = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19).replace('T', ' ');
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  return `${second}.${String(fraction).padStart(6, '0')}`;
}
