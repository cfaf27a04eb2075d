import {
  ITEM_EVENTS,
  SAMPLING_RATE,
  SERVICE_NAMESPACE,
  SPAN_ATTRIBUTES,
  SPAN_SCOPE,
  type Level,
  type SpanAttribute,
} from '../../schemas/span-contract.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const YAML = 'reference/semantic-conventions.yaml';

/** docs/semantic-conventions.md: what payment spans say. */
export function semanticConventionsPage(): string {
  return page(
    '# Semantic conventions of payment spans',
    GENERATED,
    'One order is one trace. Every history item is a span of it, and one root span stands for the order. The export, the views ' +
      '[`order_trace`](reference/views.md#order_trace) and [`otel_traces`](reference/views.md#otel_traces) and this page are made from one ' +
      `contract, \`schemas/span-contract.ts\`; [the same in OpenTelemetry's form](${YAML}) is for Weaver and other tools.`,
    ...resource(),
    ...spans(),
    ...attributes(),
    ...eventsAndLinks(),
    ...ids(),
    ...inSql(),
  );
}

function resource(): string[] {
  return [
    '## Resource',
    table(
      ['Attribute', 'Value'],
      [
        [code('service.name'), "The gateway's name in the configuration: each gateway is a service."],
        [code('service.namespace'), code(SERVICE_NAMESPACE)],
      ],
    ),
    `\`OTEL_RESOURCE_ATTRIBUTES\` adds to what is exported, e.g. the environment; it does not change these two. The scope is \`${SPAN_SCOPE}\`.`,
  ];
}

function spans(): string[] {
  return [
    '## Spans',
    table(
      ['Span', 'Name', 'From', 'To', 'Status'],
      [
        [
          'item',
          '`payment STAGE RESULT`, or `payment FORMAT code` when the code is not decoded',
          'the item before it, as first seen; the first item: itself',
          "the item's time",
          'Error only where the operation failed (segment C is 2)',
        ],
        [
          'root',
          '`payment Deposit` or `payment Withdrawal`',
          'the first item',
          'the last item',
          'Error only where the operation failed that decided the order',
        ],
      ],
    ),
    '- All are of the kind Internal. A status is Error or unset, never Ok; its message is what the code means.\n' +
      '- An item is exported once it is stored (with `traces.sampling`: once its order has settled). The root follows once, when the order settles or is given up; until then a ' +
      'trace has children without a parent, which tracing tools show as such. The root says what was known when it was closed: items ' +
      'that come later join the trace and do not change it. `orders` has the newest.\n' +
      '- A decline by issuer or risk is a successful check of a failed payment: its span is not an error. Ask for ' +
      '`payment.state = FAILED`, or on the root for `payment.outcome`.\n' +
      '- Spans show the order of events. For durations use the views: a late item lands between spans that are already sent.\n' +
      '- Export reads the stored rows batch after batch and notes the last one that was sent, so a receiver that is down for a while misses nothing.',
  ];
}

function attributes(): string[] {
  return [
    '## Attributes',
    table(
      ['Attribute', 'Type', 'On items', 'On the root', 'Meaning', 'Example'],
      SPAN_ATTRIBUTES.map((attribute) => [
        code(attribute.name),
        attribute.type,
        levelText(attribute.item?.level),
        levelText(attribute.root?.level),
        meaning(attribute),
        code(String(attribute.examples[0] ?? '')),
      ]),
    ),
    `Exported spans have ${code(SAMPLING_RATE.name)} too (${SAMPLING_RATE.type}) when ${SAMPLING_RATE.level.when}. ${SAMPLING_RATE.brief} Views have all spans, and no rate.`,
    'Card data, tokens and callback signatures are on none of them.',
  ];
}

function eventsAndLinks(): string[] {
  return [
    '## Events and links',
    table(
      ['Event of an item', 'There', 'Meaning'],
      ITEM_EVENTS.map(({ name, level, brief }) => [code(name), levelText(level), brief]),
    ),
    'They come after the span, which ends when the item happened at the gateway: the distance is how late gatewatch was. Where the ' +
      "collector's own span of the read is sampled, the item's span has a link to it, and that span has one to the order's root.",
  ];
}

function ids(): string[] {
  return [
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
  ];
}

function inSql(): string[] {
  return [
    '## Traces in SQL',
    'No trace store is needed. `order_trace` has the columns of a traces panel of Grafana; it finds an order by its id or its trace id:',
    "```sql\nSELECT * FROM gatewatch.order_trace WHERE external_id = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d' ORDER BY startTime\n```",
    '`otel_traces` and `otel_traces_trace_id_ts` are the tables of the ClickHouse exporter of the OpenTelemetry Collector: set the database ' +
      "`gatewatch` and the table `otel_traces` in the traces settings of Grafana's ClickHouse data source, with OpenTelemetry columns, and Explore and " +
      'dashboards made for the exporter work. Conditions on `Timestamp` and `TraceId` keep them from reading everything:',
    "```sql\nSELECT Timestamp, TraceId, ServiceName, SpanAttributes['payment.outcome'] AS outcome, Duration / 1e9 AS seconds\n" +
      "FROM gatewatch.otel_traces\nWHERE Timestamp > now() - INTERVAL 1 HOUR AND ParentSpanId = '' AND StatusCode = 'Error'\n" +
      'ORDER BY Timestamp DESC LIMIT 100\n```',
    "Find an order's trace id by the merchant's id:",
    "```sql\nSELECT lower(left(hex(SHA256(concat(gateway, '|', toString(order_type), '|', external_id))), 32)) AS trace_id\n" +
      "FROM gatewatch.orders\nWHERE external_transaction_id = 'your-id'\n```",
  ];
}

function levelText(level: Level | undefined): string {
  if (level === undefined) return '';
  return level === 'required' ? 'always' : `when ${level.when}`;
}

function meaning({ brief, note, values = [] }: SpanAttribute): string {
  const set = values.length === 0 ? '' : ` ${values.map(code).join(', ')}.`;
  return `${brief}${set}${note === undefined ? '' : ` ${note}`}`;
}
