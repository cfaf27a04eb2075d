import { createClickHouseSink } from '../../../collector/sinks/clickhouse/sink.ts';
import type { Store } from '../../../store/store.ts';
import type { RowSink } from '../../../schemas/sink.ts';
import type {
  CallbackDeliveryRow,
  HistoryEventRow,
  OrderRow,
  PollRow,
  RejectRow,
  WatchRequestRow,
} from '../../../schemas/rows.ts';
import { anyRow, historyEvent } from '../../collector/sinks/support/rows.ts';
import { orderRow } from '../../support/order-row.ts';

/** A minute ago: nothing that is checked is younger. */
export const PAST = (Date.now() - 60_000) * 1000;
export const TOPIC = 'gateway.callbacks';

/** The real sink under a name of its own, as a collector would use it. */
export function sinkOf(store: Store, collectorId = 'collector-1'): RowSink {
  return createClickHouseSink({ store, collectorId, maxAgeMs: 0 });
}

export function callback(offset: number, change: Partial<CallbackDeliveryRow> = {}): CallbackDeliveryRow {
  return {
    ...anyRow('callbackDeliveries'),
    gateway: 'acme-eu',
    content_hash: new Uint8Array(32).fill(offset % 256),
    delivery_id: `delivery-${offset}`,
    received_at: PAST + offset,
    source: 'kafka',
    topic: TOPIC,
    kafka_partition: 0,
    kafka_offset: offset,
    ...change,
  };
}

export function watchRequest(id: string, change: Partial<WatchRequestRow> = {}): WatchRequestRow {
  const row = {
    ...anyRow('watchRequests'),
    gateway: 'acme-eu',
    request_id: id,
    received_at: PAST,
    source: 'http',
  };
  return { ...row, topic: '', kafka_partition: null, kafka_offset: null, ...change };
}

export function poll(id: string, change: Partial<PollRow> = {}): PollRow {
  const row = { ...anyRow('polls'), gateway: 'acme-eu', poll_id: id, started_at: PAST };
  return { ...row, items: 0, new_items: 0, refused_items: 0, ...change };
}

export function reject(id: string, change: Partial<RejectRow> = {}): RejectRow {
  const row = { ...anyRow('rejects'), gateway: 'acme-eu', reject_id: id, rejected_at: PAST, content: '' };
  return {
    ...row,
    reason: 'unknown_gateway',
    topic: '',
    kafka_partition: null,
    kafka_offset: null,
    ...change,
  };
}

/** The items of one order, and the state that the reply with all of them left it in. */
export function reply(externalId: string, items: number): { events: HistoryEventRow[]; order: OrderRow } {
  const events = Array.from({ length: items }, (_, i) =>
    historyEvent({ external_id: externalId, event_time: PAST + i * 1000, observed_at: PAST + 1_000_000 }),
  );
  const history = events.map(({ event_time: time, action }) => ({ time, action }));
  return { events, order: orderRow({ external_id: externalId, first_seen_at: PAST }, history) };
}
