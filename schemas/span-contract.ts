import {
  CATALOGUE,
  CODE_FORMATS,
  ORDER_TYPES,
  OUTCOMES,
  REASON_GROUPS,
  RESULTS,
  STAGES,
  STATES,
} from './dictionary.ts';
import type { HistoryEventRow, SettlementRow } from './rows.ts';
import { column, condition, where, type Condition, type Reading } from './span-readings.ts';

/**
 * The contract of payment spans: everything that they say, where it comes from, and when it is there. The
 * collector's export, the views `order_trace` and `otel_traces`, docs/semantic-conventions.md and the
 * convention in OpenTelemetry's form are all made from this file.
 */

/** `service.namespace` of every payment span; `service.name` is the gateway. */
export const SERVICE_NAMESPACE = 'gatewatch';
/** Name of the instrumentation scope. */
export const SPAN_SCOPE = 'gatewatch';

export type Level = 'required' | { readonly when: string };

export interface Presence<Row> extends Reading<Row> {
  readonly level: Level;
}

export interface SpanAttribute {
  readonly name: string;
  readonly type: 'string' | 'int' | 'boolean';
  /** One sentence. */
  readonly brief: string;
  readonly note?: string;
  /** A closed set; others may come from a newer version. */
  readonly values?: readonly string[];
  readonly examples: readonly (string | number | boolean)[];
  /** On the span of a history item. */
  readonly item?: Presence<HistoryEventRow>;
  /** On the span of the order. */
  readonly root?: Presence<SettlementRow>;
}

type Item = HistoryEventRow;
type Root = SettlementRow;
type ItemColumn = Parameters<typeof column<Item>>[0];
type RootColumn = Parameters<typeof column<Root>>[0];

const onItem = (name: ItemColumn, level: Level = 'required') => ({ level, ...column<Item>(name) });
const onRoot = (name: RootColumn, level: Level = 'required') => ({ level, ...column<Root>(name) });
/** Of a column that both rows have. */
const onBoth = (name: ItemColumn & RootColumn, level: Level = 'required') => ({
  item: onItem(name, level),
  root: onRoot(name, level),
});

const DECODED: Level = { when: 'the code is decoded' };
const DECIDED: Level = { when: 'an item decided the order' };

/** When a span has the status Error: an operation failed, which a declined payment need not mean. */
export const FAILED: {
  readonly item: Condition<Item>;
  readonly root: Condition<Root>;
} = {
  item: {
    of: (row) => row.result === 'FAILURE',
    columns: ['result'],
    sql: "ifNull(result = 'FAILURE', 0)",
  },
  // Segment C of the code. What decides has a state, and so the form A.C.B.RR.
  root: {
    of: (row) => row.deciding_action?.charAt(2) === '2',
    columns: ['deciding_action'],
    sql: "ifNull(substring(deciding_action, 3, 1) = '2', 0)",
  },
};

const FAILURES = CATALOGUE.filter(({ action }) => action.charAt(2) === '2');
const FAILURE_TEXTS: ReadonlyMap<string, string> = new Map(
  FAILURES.map(({ action, description }) => [action, description]),
);
const quoted = (texts: readonly string[]): string =>
  texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ');

/**
 * Message of the status Error: what the code means, or the name of the reason where the catalogue lacks it.
 */
export const FAILURE_MESSAGE = {
  of: (code: string, detail: string | null): string => FAILURE_TEXTS.get(code) ?? detail ?? '',
  /** Over `code` and `detail`. */
  sql: `transform(code, [${quoted(FAILURES.map(({ action }) => action))}], [${quoted(FAILURES.map(({ description }) => description))}], detail)`,
} as const;

const CATALOGUED: ReadonlySet<string> = new Set(CATALOGUE.map(({ action }) => action));
const names = (entries: readonly { readonly name: string }[]): string[] => entries.map(({ name }) => name);

export const SPAN_ATTRIBUTES: readonly SpanAttribute[] = [
  {
    name: 'payment.gateway',
    type: 'string',
    brief: "The gateway's name in the configuration.",
    note: 'The same as `service.name`.',
    examples: ['acme-eu'],
    ...onBoth('gateway'),
  },
  {
    name: 'payment.order_type',
    type: 'string',
    brief: 'Type of the order.',
    values: ORDER_TYPES,
    examples: ['Deposit'],
    ...onBoth('order_type'),
  },
  {
    name: 'payment.external_id',
    type: 'string',
    brief: "The order's id in the service.",
    examples: ['7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d'],
    ...onBoth('external_id'),
  },
  {
    name: 'payment.external_transaction_id',
    type: 'string',
    brief: "The merchant's own id of the payment.",
    examples: ['shop-4711'],
    ...onBoth('external_transaction_id', { when: 'a reply or a watch message named it' }),
  },
  {
    name: 'payment.channel',
    type: 'string',
    brief: 'The payment channel. The code does not carry it.',
    examples: ['p2p'],
    ...onBoth('channel', { when: 'a watch message named it' }),
  },
  {
    name: 'payment.action',
    type: 'string',
    brief: 'The code of the history item, as it came.',
    examples: ['2.2.4.11'],
    item: onItem('action'),
  },
  {
    name: 'payment.code_format',
    type: 'string',
    brief: 'Form of the code: decoded only when it is `v2`.',
    values: CODE_FORMATS,
    examples: ['v2'],
    item: onItem('code_format'),
  },
  {
    name: 'payment.stage',
    type: 'string',
    brief: 'Segment A of the code: where it happened.',
    values: names(STAGES),
    examples: ['GATEWAY_CREATE'],
    item: onItem('stage', DECODED),
  },
  {
    name: 'payment.result',
    type: 'string',
    brief: 'Segment C of the code: how the operation ended, which is not how the payment did.',
    values: names(RESULTS),
    examples: ['FAILURE'],
    item: onItem('result', DECODED),
  },
  {
    name: 'payment.state',
    type: 'string',
    brief: 'Segment B of the code: state of the payment after it.',
    values: names(STATES),
    examples: ['FAILED'],
    item: onItem('state', DECODED),
  },
  {
    name: 'payment.reason_code',
    type: 'int',
    brief: 'Segment RR of the code, 0 to 69.',
    examples: [11],
    item: onItem('reason_code', DECODED),
  },
  {
    name: 'payment.reason_group',
    type: 'string',
    brief: 'Group of the reason; on the root that of the deciding item.',
    values: names(REASON_GROUPS),
    examples: ['TECH'],
    item: onItem('reason_group', DECODED),
    root: onRoot('reason_group', DECIDED),
  },
  {
    name: 'payment.reason_detail',
    type: 'string',
    brief: 'Name of the reason; on the root that of the deciding item.',
    note: '`UNKNOWN_18` for one inside a range that the dictionary lacks. At most 55 values.',
    examples: ['TIMEOUT'],
    item: onItem('reason_detail', DECODED),
    root: onRoot('reason_detail', DECIDED),
  },
  {
    name: 'payment.catalogued',
    type: 'boolean',
    brief: 'Is the code in the catalogue of the interface?',
    examples: [true],
    item: {
      level: 'required',
      ...condition<Item>(
        ({ action }) => CATALOGUED.has(action),
        ['action'],
        `action IN (${quoted([...CATALOGUED])})`,
      ),
    },
  },
  {
    name: 'payment.occurrence',
    type: 'int',
    brief: 'Counts equal pairs of time and code within one order, from 0.',
    examples: [0],
    item: onItem('occurrence'),
  },
  {
    name: 'payment.source',
    type: 'string',
    brief: 'Why the order was read when the item was first seen.',
    note: 'History comes from status replies alone: `callback` means that a verified callback asked for the read.',
    values: ['schedule', 'callback', 'watch', 'reread', 'probe'],
    examples: ['callback'],
    item: onItem('source'),
  },
  {
    name: 'payment.status',
    type: 'string',
    brief: '`orderStatus` of the newest status reply when the order was closed.',
    examples: ['Failed'],
    root: onRoot('status', { when: 'a status reply was had' }),
  },
  {
    name: 'payment.outcome',
    type: 'string',
    brief: 'Outcome of the order by its deciding item.',
    values: OUTCOMES,
    examples: ['technical_failure'],
    root: onRoot('outcome', DECIDED),
  },
  {
    name: 'payment.deciding_action',
    type: 'string',
    brief: 'Code of the deciding item: the latest with the state SUCCESS or FAILED.',
    examples: ['2.2.4.11'],
    root: onRoot('deciding_action', DECIDED),
  },
  {
    name: 'payment.amount',
    type: 'string',
    brief: 'Amount in units of the currency, as exact decimal text without trailing zeros.',
    note: 'Text, because a binary float would change it. That of the last status reply, else of a watch message or callback.',
    examples: ['100', '12.5'],
    root: onRoot('amount', { when: 'anybody named it' }),
  },
  {
    name: 'payment.currency',
    type: 'string',
    brief: 'Currency code of the amount.',
    examples: ['EUR'],
    root: onRoot('currency', { when: 'anybody named it' }),
  },
  {
    name: 'payment.history_items',
    type: 'int',
    brief: 'Number of history items when the order was closed.',
    examples: [5],
    root: onRoot('history_items'),
  },
  {
    name: 'payment.closure',
    type: 'string',
    brief: 'How the watch of the order ended.',
    note: '`settled`: final, and a late read found nothing new. `abandoned`: given up before.',
    values: ['settled', 'abandoned'],
    examples: ['settled'],
    root: onRoot('kind'),
  },
  {
    name: 'error.type',
    type: 'string',
    brief: 'Name of the reason for which the operation failed.',
    note: "An attribute of OpenTelemetry's own convention.",
    examples: ['TIMEOUT'],
    item: {
      level: { when: 'the operation failed' },
      ...where<Item>(FAILED.item, column<Item>('reason_detail')),
    },
    root: {
      level: { when: 'the operation that decided failed' },
      ...where<Root>(FAILED.root, column<Root>('reason_detail')),
    },
  },
];

/** What the export says of itself: views have all spans, and no rate. */
export const SAMPLING_RATE = {
  name: 'payment.sampling.rate',
  type: 'double',
  brief: 'The trace stands for 1 / rate orders. `tracestate` says the same (`ot=th:`).',
  level: { when: '`traces.sampling` is configured' },
  examples: [0.05],
} as const;

/** Names of the two kinds of spans; the sets are closed, so that a tracing store can group by them. */
export const SPAN_NAMES: {
  readonly item: Reading<Item>;
  readonly root: Reading<Root>;
} = {
  item: {
    of: ({ stage, result, code_format }) =>
      stage === null ? `payment ${code_format} code` : `payment ${stage} ${result}`,
    columns: ['stage', 'result', 'code_format'],
    sql: "ifNull(concat('payment ', toString(stage), ' ', toString(result)), concat('payment ', toString(code_format), ' code'))",
  },
  root: {
    of: ({ order_type }) => `payment ${order_type}`,
    columns: ['order_type'],
    sql: "concat('payment ', toString(order_type))",
  },
};

/** A span event of a history item: an instant that lies in a column. */
export interface ItemEvent {
  readonly name: string;
  readonly brief: string;
  readonly level: Level;
  readonly column: 'callback_at' | 'observed_at';
}

/** By time: a callback comes before the read that it asks for. */
export const ITEM_EVENTS: readonly ItemEvent[] = [
  {
    name: 'payment.callback_received',
    brief: 'The verified callback came that asked for the read.',
    level: { when: '`payment.source` is `callback`' },
    column: 'callback_at',
  },
  {
    name: 'payment.item_read',
    brief: 'The status reply came that delivered the item.',
    level: 'required',
    column: 'observed_at',
  },
];
