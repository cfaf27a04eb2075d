import { decode } from '../../../../collector/decode/code.ts';
import { createStore, type Store } from '../../../../store/store.ts';
import type { OrderRow, Rows } from '../../../../schemas/rows.ts';
import type { TestStore } from '../../../support/embedded.ts';
import { type HistoryItem, orderRow } from '../../../support/order-row.ts';
import { type TemplateName, withTemplate } from '../../../support/migrated-folder.ts';

/** 2026-11-21T10:15:30Z in microseconds. */
export const START = Date.UTC(2026, 10, 21, 10, 15, 30) * 1000;
export const SECOND = 1_000_000;

export const ORDER = {
  gateway: 'acme-eu',
  order_type: 'Deposit',
  external_id: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
  external_transaction_id: 'merchant-1001',
} as const;

export interface MigratedStore {
  readonly embedded: TestStore;
  readonly store: Store;
  stop(): Promise<void>;
}

/** The real engine with the real schema. */
export async function migratedStore(template: TemplateName = 'migrated'): Promise<MigratedStore> {
  const embedded = await withTemplate(template);
  const store = createStore({ url: embedded.url, ...embedded.writer });
  return {
    embedded,
    store,
    async stop() {
      await store.close();
      await embedded.stop();
    },
  };
}

export function historyRow(
  item: { at: number; action: string; position: number; observedAt: number },
  order: { gateway: string; order_type: string; external_id: string } = ORDER,
): Rows['historyEvents'] {
  const code = decode(item.action);
  return {
    gateway: order.gateway,
    order_type: order.order_type,
    external_id: order.external_id,
    event_time: item.at,
    action: item.action,
    occurrence: 0,
    external_transaction_id: ORDER.external_transaction_id,
    channel: 'p2p',
    code_format: code.format,
    stage: code.stage,
    result: code.result,
    state: code.state,
    reason_code: code.reasonCode,
    reason_group: code.reasonGroup,
    reason_detail: code.reasonDetail,
    list_position: item.position,
    span_start: item.at,
    observed_at: item.observedAt,
    source: 'schedule',
    callback_at: null,
    read_span: '',
  };
}

/** The row of the order as its second reply left it; and what a test says otherwise. */
export function seededRow(change: Partial<OrderRow> = {}, items: readonly HistoryItem[] = []): OrderRow {
  const row: Partial<OrderRow> = {
    ...ORDER,
    first_seen_at: START - SECOND,
    observed_at: START,
    channel: 'p2p',
    status: 'Failed',
    amount: '100.50',
    amount_source: 'status',
    currency: 'EUR',
    currency_source: 'watch',
    outcome: 'issuer_decline',
    deciding_action: '4.1.4.63',
    reason_code: 63,
    reason_group: 'ISSUER',
    reason_detail: 'INSUFFICIENT_FUNDS',
    history_items: 4,
    created_at: START,
    final_at: START + 20 * SECOND,
    ...change,
  };
  return orderRow(row, items);
}

export function callbackRow(change: Partial<Rows['callbackDeliveries']> = {}): Rows['callbackDeliveries'] {
  return {
    gateway: ORDER.gateway,
    content_hash: new Uint8Array(32).fill(7),
    delivery_id: 'kafka:0:1',
    received_at: START + 21 * SECOND,
    verdict: 'valid',
    external_id: ORDER.external_id,
    status: 'Failed',
    amount: '100.50',
    order_type: 'Deposit',
    currency: 'EUR',
    problem: '',
    source: 'kafka',
    topic: 'gateway.callbacks',
    kafka_partition: 0,
    kafka_offset: 1,
    signature_cause: 'none',
    body_bytes: 300,
    body_seal: 0,
    body_key: 0,
    ...change,
  };
}

export function pollRow(change: Partial<Rows['polls']> = {}): Rows['polls'] {
  return {
    gateway: ORDER.gateway,
    started_at: START + 2 * SECOND,
    poll_id: 'poll-1',
    endpoint: 'deposit-status',
    order_type: 'Deposit',
    order_id: ORDER.external_id,
    id_kind: 'external-id',
    cause: 'schedule',
    http_status: 200,
    outcome: 'ok',
    error_type: '',
    duration_ms: 41.5,
    lateness_ms: 1,
    reply_bytes: 900,
    items: 4,
    new_items: 4,
    refused_items: 0,
    anomaly: '',
    missing_items: 0,
    missing_item: '',
    news: 'items',
    ...change,
  };
}

export function watchRow(change: Partial<Rows['orderWatch']> = {}): Rows['orderWatch'] {
  return {
    gateway: ORDER.gateway,
    order_type: 'Deposit',
    id_kind: 'external-id',
    order_id: ORDER.external_id,
    updated_at: START + 25 * SECOND,
    phase: 'rereading',
    next_poll_at: START + 80 * SECOND,
    attempt: 3,
    reread: 1,
    first_seen_at: START,
    watched_since: START,
    final_at: START + 20 * SECOND,
    last_status: 'Failed',
    external_id: ORDER.external_id,
    external_transaction_id: ORDER.external_transaction_id,
    channel: 'p2p',
    amount: '100.50',
    amount_source: 'watch',
    currency: 'EUR',
    currency_source: 'watch',
    root_sent: 0,
    collector_id: 'collector-1',
    ...change,
  };
}

/**
 * One failed deposit: read twice (the second read brings a late item into the middle), two callbacks, four
 * polls.
 */
export async function seedOrder(store: Store): Promise<void> {
  const first = START + 22 * SECOND;
  const second = START + 85 * SECOND;
  const at = (seconds: number) => START + seconds * SECOND;
  const read = (observedAt: number, shift: number) => [
    historyRow({ at: at(0), action: '1.1.1.00', position: 0, observedAt }),
    historyRow({ at: at(0.25), action: '2.1.1.00', position: 1, observedAt }),
    historyRow({ at: at(20), action: '4.1.4.63', position: 2 + shift, observedAt }),
    historyRow({ at: at(21), action: '6.1.1.00', position: 3 + shift, observedAt }),
  ];
  await store.insert('historyEvents', read(first, 0));
  // The same items again, as a restart would store them, and one that had been missing.
  await store.insert('historyEvents', [
    ...read(second, 1),
    historyRow({ at: at(10), action: '3.9.9', position: 2, observedAt: second }),
  ]);
  const items: HistoryItem[] = read(first, 0).map(({ event_time, action }) => ({
    time: event_time,
    action,
    observedAt: first,
  }));
  const late = { time: at(10), action: '3.9.9', observedAt: second };
  await store.insert('orders', [seededRow({ observed_at: first, history_items: 5 }, [...items, late])]);
  await store.insert('callbackDeliveries', [
    callbackRow(),
    callbackRow({ delivery_id: 'kafka:0:9', received_at: at(30) }),
    callbackRow({
      content_hash: new Uint8Array(32).fill(9),
      verdict: 'mismatch',
      signature_cause: 'amount_two_decimals',
      problem: 'Signature: does not match the content under any configured key',
      received_at: at(40),
    }),
  ]);
  await store.insert('polls', [
    pollRow(),
    pollRow({
      poll_id: 'poll-2',
      started_at: at(5),
      http_status: null,
      outcome: 'unknown',
      error_type: 'timeout',
    }),
    pollRow({ poll_id: 'poll-3', started_at: at(22) }),
    pollRow({ poll_id: 'other', order_id: 'another-order', started_at: at(22) }),
  ]);
  await store.insert('orderWatch', [watchRow({ updated_at: START, phase: 'active' }), watchRow()]);
}
