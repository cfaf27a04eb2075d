import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStore, type Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { freePort } from '../support/kafka-process.ts';
import { type Otelcol, buildOtelcol, startOtelcol } from '../support/otelcol.ts';
import { readOtlpJson } from './support/otlp-json.ts';
import {
  expectSameSpans,
  type ReceiverScene,
  type SeenSpan,
  startReceiverScene,
} from './support/receiver-scene.ts';

const program = await buildOtelcol();
const reason = 'reason' in program ? program.reason : null;
if (reason !== null && process.env['GATEWATCH_REQUIRE_GO'] === '1') throw new Error(reason);

describe.skipIf(reason !== null)(
  `a real OpenTelemetry Collector${reason === null ? '' : `: ${reason}`}`,
  () => {
    let folder: string;
    let embedded: TestStore;
    let store: Store;
    let http: string;
    let grpc: string;
    let otelcol: Otelcol;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gatewatch-spans-'));
      embedded = await withEmbedded();
      store = createStore({ ...embedded.writer, url: embedded.url, database: 'otel' });
      [http, grpc] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
      if ('path' in program) otelcol = await startOtelcol(program.path, config());
    });
    afterAll(async () => {
      await otelcol?.stop();
      await store?.close();
      await embedded?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const config = () => ({
      receivers: { otlp: { protocols: { http: { endpoint: http }, grpc: { endpoint: grpc } } } },
      exporters: {
        file: { path: join(folder, 'spans.json') },
        // Its packed form of answers is not spoken by the embedded store.
        clickhouse: { endpoint: embedded.url, ...embedded.writer, database: 'otel', compress: 'none' },
      },
      service: {
        pipelines: { traces: { receivers: ['otlp'], exporters: ['file', 'clickhouse'] } },
        telemetry: { metrics: { level: 'none' } },
      },
    });
    const received = async (): Promise<SeenSpan[]> =>
      readOtlpJson(await readFile(join(folder, 'spans.json'), 'utf8').catch(() => ''));

    describe.each([
      ['http/protobuf', () => http],
      ['http/json', () => http],
      ['grpc', () => grpc],
    ] as const)('by OTLP over %s', (protocol, address) => {
      let scene: ReceiverScene;
      let stored: SeenSpan[];
      beforeAll(async () => {
        const env = {
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://${address()}`,
        };
        scene = await startReceiverScene(env, protocol);
        stored = await scene.spansOfStore();
      });
      afterAll(() => scene?.stop());

      it('gets what SQL shows: ids, times, status and attributes', async () => {
        const ours = async () => (await received()).filter(({ traceId }) => scene.traceIds.includes(traceId));
        await expect.poll(async () => (await ours()).length).toBe(stored.length);
        expectSameSpans(await ours(), stored);
      });

      it('stores the same with its exporter for ClickHouse, in the embedded store', async () => {
        const rows = () => store.query<SeenSpan>(EXPORTER_SQL, { traceIds: [...scene.traceIds] });
        await expect.poll(async () => (await rows()).length).toBe(stored.length);
        const seen = (await rows()).map((row) => ({ ...row, isError: Boolean(row.isError) }));
        expectSameSpans(seen, stored);
      });
    });
  },
);

/** The exporter's own table. It has nanoseconds. */
const EXPORTER_SQL = `SELECT TraceId AS traceId, SpanId AS spanId, ParentSpanId AS parentSpanId,
    SpanName AS name, intDiv(toUnixTimestamp64Nano(Timestamp), 1000) AS startMicros,
    startMicros + intDiv(Duration, 1000) AS endMicros, StatusCode = 'Error' AS isError,
    SpanAttributes AS attributes
FROM otel_traces WHERE TraceId IN {traceIds:Array(String)}`;
