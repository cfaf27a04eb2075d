import type { TableKey } from '../../../../schemas/names.ts';
import type {
  ColumnKind,
  ScalarKind,
  HistoryEventRow,
  Rows,
  SettlementRow,
} from '../../../../schemas/rows.ts';
import { COLUMNS } from '../../../../schemas/rows.ts';

/** 2026-11-18T10:00:00Z. */
export const NOON = Date.UTC(2026, 10, 18, 10) * 1000;

export function historyEvent(changes: Partial<HistoryEventRow> = {}): HistoryEventRow {
  return {
    gateway: 'acme-eu',
    order_type: 'Deposit',
    external_id: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
    event_time: NOON + 250_000,
    action: '2.2.4.11',
    occurrence: 0,
    external_transaction_id: 'merchant-1',
    channel: 'p2p',
    code_format: 'v2',
    stage: 'GATEWAY_CREATE',
    result: 'FAILURE',
    state: 'FAILED',
    reason_code: 11,
    reason_group: 'TECH',
    reason_detail: 'TIMEOUT',
    list_position: 0,
    span_start: NOON,
    observed_at: NOON + 2_000_000,
    source: 'schedule',
    callback_at: null,
    read_span: '',
    ...changes,
  };
}

/** `count` items of one order each, distinguished by their order ids. */
export function historyEvents(prefix: string, count: number): HistoryEventRow[] {
  return Array.from({ length: count }, (_, i) => historyEvent({ external_id: `${prefix}-${i}` }));
}

export function settlement(changes: Partial<SettlementRow> = {}): SettlementRow {
  return {
    gateway: 'acme-eu',
    order_type: 'Deposit',
    external_id: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
    settled_at: NOON + 900_000_000,
    kind: 'settled',
    status: 'Failed',
    outcome: 'technical_failure',
    reason_group: 'TECH',
    reason_detail: 'TIMEOUT',
    history_items: 1,
    external_transaction_id: 'merchant-1',
    channel: 'p2p',
    first_event_at: NOON,
    last_event_at: NOON + 250_000,
    deciding_action: '2.2.4.11',
    amount: '100',
    currency: 'EUR',
    ...changes,
  };
}

const PLAIN: { readonly [K in ScalarKind]: unknown } = {
  string: 'text',
  'string?': 'text',
  bytes32: new Uint8Array(32).fill(7),
  u8: 1,
  'u8?': 1,
  u16: 1,
  'u16?': 1,
  u32: 1,
  u64: 1,
  'i32?': 1,
  'i64?': 1,
  f64: 1.5,
  'f64?': 1.5,
  micros: NOON,
  'micros?': NOON,
};

/** Columns which the table restricts to a closed set, or to a form. */
const RESTRICTED: Readonly<Record<string, unknown>> = {
  order_type: 'Deposit',
  id_kind: 'external-id',
  code_format: 'v2',
  stage: 'CHECK',
  result: 'INFO',
  state: 'CREATED',
  verdict: 'valid',
  'polls.outcome': 'ok',
  'orderClaims.kind': 'status_reply',
  amount_source: 'watch',
  currency_source: 'watch',
  'history.stage': ['CHECK'],
  'history.result': ['INFO'],
  'history.state': ['CREATED'],
  'settlements.kind': 'settled',
  'alertEvaluations.kind': 'share',
  phase: 'active',
  resolution: 'stored',
  'orders.amount': '100.00',
  'orderClaims.amount': '100.00',
  'settlements.amount': '100.00',
};

/** Text columns of a table that take any text. */
export function freeTextColumns(table: TableKey): string[] {
  return Object.entries(COLUMNS[table])
    .filter(([name, kind]) => kind.startsWith('string') && !isRestricted(table, name))
    .map(([name]) => name);
}

/** A row of any table with every column filled, and `text` in each column that takes free text. */
export function anyRow<K extends TableKey>(table: K, text = 'text'): Rows[K] {
  const free = new Set(freeTextColumns(table));
  const row: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(COLUMNS[table]) as [string, ColumnKind][]) {
    if (!free.has(name)) row[name] = RESTRICTED[`${table}.${name}`] ?? RESTRICTED[name] ?? plain(kind);
    else row[name] = kind.endsWith('[]') ? [text] : text;
  }
  return row as unknown as Rows[K];
}

const plain = (kind: ColumnKind): unknown =>
  kind.endsWith('[]') ? [PLAIN[kind.slice(0, -2) as ScalarKind]] : PLAIN[kind as ScalarKind];

function isRestricted(table: TableKey, column: string): boolean {
  return `${table}.${column}` in RESTRICTED || column in RESTRICTED;
}
