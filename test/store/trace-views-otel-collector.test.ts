import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { itemSpans, rootSpan } from '../../collector/decode/spans.ts';
import { createOtlpSender } from '../../collector/sinks/otlp/sender.ts';
import { historyEvent, NOON, settlement } from '../collector/sinks/support/rows.ts';
import { closedOrder } from '../support/order-row.ts';
import { withEmbedded } from '../support/embedded.ts';
import { openDatabase } from '../support/migrated-store.ts';
import { buildOtelcol, startOtelcol } from '../support/otelcol.ts';
import { until } from '../support/until.ts';

const program = await buildOtelcol();
const reason = 'reason' in program ? program.reason : null;
if (reason !== null && process.env['GATEWATCH_REQUIRE_GO'] === '1') throw new Error(reason);

/** What differs, and is documented: rows do not keep the version, and have microseconds. */
const OURS = { ScopeVersion: '' };
const inMicros = (type: string): string => type.replaceAll('DateTime64(9)', "DateTime64(6, 'UTC')");

describe.skipIf(reason !== null)(`the exporter's own table${reason === null ? '' : `: ${reason}`}`, () => {
  it('has the columns, types and rows of the view', async () => {
    const embedded = await withEmbedded();
    const store = await openDatabase(embedded);
    const endpoint = `127.0.0.1:${await freePort()}`;
    const otelcol = await startOtelcol('path' in program ? program.path : '', {
      receivers: { otlp: { protocols: { http: { endpoint } } } },
      exporters: {
        // Our server does not speak ClickHouse's own compression.
        clickhouse: { endpoint: embedded.url, ...embedded.writer, database: 'otel', compress: 'none' },
      },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { traces: { receivers: ['otlp'], exporters: ['clickhouse'] } },
      },
    });
    try {
      const items = [
        historyEvent({
          callback_at: NOON + 1,
          source: 'callback',
          read_span: `${'1'.repeat(32)}-${'2'.repeat(16)}`,
        }),
        historyEvent({
          action: '4.2.2.18',
          event_time: NOON + 300_007,
          span_start: NOON + 250_000,
          occurrence: 1,
        }),
      ];
      const roots = [settlement({ history_items: 2 })];
      await store.insert('historyEvents', items);
      await store.insert('orders', roots.map(closedOrder));
      const sender = createOtlpSender({ version: '1.2.3', endpoint: `http://${endpoint}` });
      await sender.send([...itemSpans(items), ...roots.map(rootSpan)]);
      await sender.close();

      const rowsOf = (from: string) => store.query<object>(`SELECT * FROM ${from} ORDER BY SpanId`);
      const theirs = await until(
        'the exporter to store',
        () => rowsOf('otel.otel_traces').catch(() => []),
        (rows) => rows.length === 3,
      );
      const ours = await rowsOf('otel_traces');
      expect(ours.map((row) => ({ ...row, ...OURS })).map(inWholeMicros)).toEqual(
        theirs.map((row) => ({ ...row, ...OURS })).map(inWholeMicros),
      );
      const columnsOf = (from: string) =>
        store.query<{ name: string; type: string }>(`DESCRIBE (SELECT * FROM ${from})`);
      const plain = ({ name, type }: { name: string; type: string }) => [
        name,
        inMicros(type).replaceAll(/LowCardinality\((\w+)\)/g, '$1'),
      ];
      expect((await columnsOf('otel_traces')).map(plain)).toEqual(
        (await columnsOf('otel.otel_traces')).map(plain),
      );
    } finally {
      await otelcol.stop();
      await store.close();
      await embedded.stop();
    }
  });
});

/** Times as text: six decimals instead of nine; maps in the order of their keys. */
function inWholeMicros(row: object): object {
  return JSON.parse(JSON.stringify(row), (_key, value: unknown) => {
    if (typeof value === 'string') return value.replace(/^(.{19}\.\d{6})000$/, '$1');
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    return value;
  }) as object;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
