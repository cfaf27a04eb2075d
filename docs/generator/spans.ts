import { SPAN_ATTRIBUTES } from '../../schemas/span.ts';
import { code, GENERATED, page, table } from './markdown.ts';

type Key = keyof typeof SPAN_ATTRIBUTES;
interface AttributeDoc {
  readonly type: 'string' | 'int' | 'double' | 'boolean';
  readonly on: 'both' | 'item' | 'root';
  readonly text: string;
}

/** Every attribute of the convention; the type makes a missing one an error. */
const ATTRIBUTES: Readonly<Record<Key, AttributeDoc>> = {
  gateway: { type: 'string', on: 'both', text: "The gateway's name in the configuration." },
  orderType: { type: 'string', on: 'both', text: '`Deposit` or `Withdrawal`.' },
  externalId: { type: 'string', on: 'both', text: "The order's id in the service." },
  externalTransactionId: {
    type: 'string',
    on: 'both',
    text: "The merchant's id of the payment, when known.",
  },
  channel: { type: 'string', on: 'both', text: 'The channel that a watch message named, when one did.' },
  action: { type: 'string', on: 'item', text: 'The code as it came.' },
  codeFormat: { type: 'string', on: 'item', text: '`v2`, `legacy` or `unrecognized`.' },
  stage: { type: 'string', on: 'item', text: 'Segment A, by name. Only when decoded.' },
  result: { type: 'string', on: 'item', text: 'Segment C, by name. Only when decoded.' },
  state: { type: 'string', on: 'item', text: 'Segment B, by name. Only when decoded.' },
  reasonCode: { type: 'int', on: 'item', text: 'Segment RR. Only when decoded.' },
  reasonGroup: {
    type: 'string',
    on: 'both',
    text: 'Group of the reason; on the root span that of the deciding item.',
  },
  reasonDetail: {
    type: 'string',
    on: 'both',
    text: 'Name of the reason; on the root span that of the deciding item.',
  },
  catalogued: { type: 'boolean', on: 'item', text: 'Is the code in the catalogue?' },
  occurrence: {
    type: 'int',
    on: 'item',
    text: 'Counts equal pairs of time and code within one order, from 0.',
  },
  status: { type: 'string', on: 'root', text: '`orderStatus` of the last status reply.' },
  outcome: { type: 'string', on: 'root', text: 'Outcome by the deciding item.' },
  historyItems: { type: 'int', on: 'root', text: 'Number of history items.' },
  closure: { type: 'string', on: 'root', text: '`settled` or `abandoned`.' },
  samplingRate: {
    type: 'double',
    on: 'both',
    text: 'With `traces.sampling` only: the trace stands for 1 / rate orders. `tracestate` says the same (`ot=th:`).',
  },
  errorType: {
    type: 'string',
    on: 'item',
    text: 'Name of the reason, on spans whose operation failed. The OpenTelemetry convention for errors.',
  },
};
const WHERE: Readonly<Record<AttributeDoc['on'], string>> = {
  both: 'all spans',
  item: 'items',
  root: 'root',
};

/** docs/reference/spans.md: the semantic convention of payment spans. */
export function spansPage(): string {
  const rows = (Object.keys(SPAN_ATTRIBUTES) as Key[]).map((key) => {
    const doc = ATTRIBUTES[key];
    return [code(SPAN_ATTRIBUTES[key]), doc.type, WHERE[doc.on], doc.text];
  });
  return page(
    '# Payment spans',
    GENERATED,
    'One order is one trace. Every history item is a span of it, and one root span stands for the order.',
    '## Spans',
    table(
      ['Span', 'Name', 'From', 'To', 'Status'],
      [
        [
          'item',
          '`payment STAGE RESULT`, or `payment FORMAT code` when the code is not decoded',
          'the item before it, as first seen; the first item: itself',
          "the item's time",
          'Error only where the result of the operation is FAILURE, with the description of the code',
        ],
        ['root', '`payment Deposit` or `payment Withdrawal`', 'the first item', 'the last item', 'unset'],
      ],
    ),
    '- An item is exported once it is stored (with `traces.sampling`: once its order has settled). The root span follows once, when the order settles or is given up; until then a ' +
      'trace has children without a parent, which tracing tools show as such.\n' +
      '- A decline by issuer or risk is a successful check of a failed payment: its span is not an error. Ask for ' +
      '`payment.state = FAILED` instead.\n' +
      '- Spans show the order of events. For durations use the views: a late item lands between spans that are already sent.\n' +
      '- Export reads the stored rows from a cursor, so a receiver that is down for a while misses nothing.',
    '## Attributes',
    table(['Attribute', 'Type', 'On', 'Meaning'], rows),
    'Card data, tokens and callback signatures are on none of them.',
    '## Ids',
    'All ids are the beginning of a SHA-256 over UTF-8 text, so the same input gives the same ids everywhere, always: ' +
      '16 bytes for a trace, 8 bytes for a span.',
    table(
      ['Id', 'Text'],
      [
        ['trace', '`gateway|orderType|externalId`'],
        ['root span', '`gateway|orderType|externalId|root`'],
        [
          'item span',
          '`gateway|orderType|externalId|event_time|action|occurrence`, `event_time` as `YYYY-MM-DDTHH:MM:SS.ffffffZ`',
        ],
      ],
    ),
    'Example: the order `acme-eu|Deposit|7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d` has the trace ' +
      '`e9aa68962ba7f508d810ef274ad7c745` and the root span `d715956db1b89fd4`. Its item of 2026-11-21T10:15:30.250000Z ' +
      'with the code `2.2.4.11`, occurrence 0, is the span `1c9b13a5a77bfaa2`.',
    "Find an order's trace in SQL:",
    "```sql\nSELECT lower(left(hex(SHA256(concat(gateway, '|', toString(order_type), '|', external_id))), 32)) AS trace_id\n" +
      "FROM gatewatch.orders\nWHERE external_transaction_id = 'your-id'\n```",
  );
}
