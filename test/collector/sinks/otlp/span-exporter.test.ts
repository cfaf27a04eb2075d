import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { markSampled } from '../../../../collector/decode/sampling.ts';
import { itemSpans, rootSpan } from '../../../../collector/decode/spans.ts';
import { createClickHouseSink } from '../../../../collector/sinks/clickhouse/sink.ts';
import type { Store } from '../../../../store/store.ts';
import { createOtlpSender } from '../../../../collector/sinks/otlp/sender.ts';
import type { SpanExporter, SpanExporterOptions } from '../../../../collector/sinks/otlp/span-exporter.ts';
import { createSpanExporter } from '../../../../collector/sinks/otlp/span-exporter.ts';
import { TABLES } from '../../../../schemas/names.ts';
import type { HistoryEventRow, RowBundle } from '../../../../schemas/rows.ts';
import type { OtlpReceiver } from '../../../support/otlp-receiver.ts';
import { startOtlpReceiver } from '../../../support/otlp-receiver.ts';
import { shareDatabase } from '../../../support/shared-database.ts';
import { historyEvent, historyEvents, NOON, settlement } from '../support/rows.ts';

let store: Store;
shareDatabase((opened) => (store = opened));
let receiver: OtlpReceiver;

const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  await receiver.close();
});

function startExporter(options: Partial<SpanExporterOptions> = {}): SpanExporter {
  const exporter = createSpanExporter({
    store,
    collectorId: 'c1',
    sender: createOtlpSender({ version: '1.2.3', endpoint: receiver.url, timeoutMs: 400 }),
    toSpans: ({ events, settlements }) => [...itemSpans(events), ...settlements.map(rootSpan)],
    intervalMs: 10,
    retry: { minDelayMs: 5, maxDelayMs: 20 },
    ...options,
  });
  cleanUps.push(() => exporter.stop(1000));
  return exporter;
}

/** Stores each bundle as one acknowledged batch and notifies the exporter. */
async function storeBatches(
  bundles: readonly RowBundle[],
  exporter?: SpanExporter,
  collectorId = 'c1',
): Promise<void> {
  const sink = createClickHouseSink({
    store,
    collectorId,
    maxAgeMs: 0,
    onAcknowledged: (batchSeq) => exporter?.notify(batchSeq),
  });
  for (const bundle of bundles) await sink.write(bundle);
  await sink.stop(5000);
}

const spanIdOf = (row: HistoryEventRow | undefined): string => {
  if (row === undefined) throw new Error('no row');
  return itemSpans([row])[0]?.spanId ?? '';
};
const spanIds = (): string[] => receiver.spans.map((span) => span.spanId);

describe('payment spans', () => {
  it('arrive with the ids, times and attributes of the stored rows', async () => {
    const item = historyEvent({
      event_time: Date.UTC(2026, 10, 21, 10, 15, 30) * 1000 + 250_001,
      span_start: 1_795_256_130_000_003,
    });
    await storeBatches([{ historyEvents: [item], settlements: [settlement()] }], startExporter());
    await expect.poll(() => receiver.spans.length).toBe(2);
    const [span, root] = receiver.spans;
    expect(span).toMatchObject({
      traceId: 'e9aa68962ba7f508d810ef274ad7c745',
      parentSpanId: 'd715956db1b89fd4',
      name: 'payment GATEWAY_CREATE FAILURE',
      startNanos: 1_795_256_130_000_003_000n,
      endNanos: 1_795_256_130_250_001_000n,
      statusCode: 2,
      attributes: {
        'payment.gateway': 'acme-eu',
        'payment.reason_code': 11,
        'payment.catalogued': true,
        'error.type': 'TIMEOUT',
      },
      scope: 'gatewatch',
    });
    expect(root).toMatchObject({
      spanId: 'd715956db1b89fd4',
      parentSpanId: '',
      statusCode: 2,
      statusMessage: 'Gateway did not answer the create request in time',
      // As the decimal column has it, and never by way of a binary float.
      attributes: { 'payment.amount': '100', 'payment.currency': 'EUR' },
    });
  });

  it('go out as those of the service that their gateway is, in one request', async () => {
    const rows = ['acme-eu', 'blue-pay', 'acme-eu'].map((gateway, n) =>
      historyEvent({ gateway, external_id: `order-${n}` }),
    );
    await storeBatches([{ historyEvents: rows }], startExporter());
    await expect.poll(() => receiver.spans.length).toBe(3);
    expect(receiver.requests()).toBe(1);
    for (const { attributes, resource } of receiver.spans)
      expect(resource).toEqual({
        'service.name': attributes['payment.gateway'],
        'service.namespace': 'gatewatch',
      });
  });

  it('carry the events of an item to the microsecond, and the link to its read', async () => {
    const read = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
    const item = historyEvent({
      source: 'callback',
      callback_at: NOON + 1,
      observed_at: NOON + 2_000_001,
      read_span: `${read.traceId}-${read.spanId}`,
    });
    await storeBatches([{ historyEvents: [item] }], startExporter());
    await expect.poll(() => receiver.spans.length).toBe(1);
    expect(receiver.spans[0]).toMatchObject({
      events: [
        { name: 'payment.callback_received', nanos: BigInt(NOON + 1) * 1000n },
        { name: 'payment.item_read', nanos: BigInt(NOON + 2_000_001) * 1000n },
      ],
      links: [read],
    });
  });

  it('have the id of the worked example', async () => {
    await storeBatches(
      [{ historyEvents: [historyEvent({ event_time: Date.UTC(2026, 10, 21, 10, 15, 30, 250) * 1000 })] }],
      startExporter(),
    );
    await expect.poll(spanIds).toEqual(['1c9b13a5a77bfaa2']);
  });

  it('are offered again until the receiver takes them', async () => {
    receiver.answerWith(503);
    const exporter = startExporter();
    await storeBatches([{ historyEvents: historyEvents('a', 3) }], exporter);
    await expect
      .poll(() => exporter.status())
      .toMatchObject({ state: 'retrying', backlogBatches: 1, lastError: expect.any(String) });
    expect(receiver.spans).toEqual([]);
    receiver.answerWith(200);
    await expect.poll(() => receiver.spans.length).toBe(3);
    await expect
      .poll(() => exporter.status())
      .toMatchObject({ state: 'ok', backlogBatches: 0, spansExported: 3 });
  });

  it('are offered again when the receiver refuses our credentials: a person mends that', async () => {
    receiver.answerWith(401);
    const exporter = startExporter();
    await storeBatches([{ historyEvents: historyEvents('a', 1) }], exporter);
    await expect.poll(() => receiver.requests()).toBeGreaterThan(2);
    receiver.answerWith(200);
    await expect.poll(() => receiver.spans.length).toBe(1);
  });

  it.each([400, 413])(
    'that are refused with %i are left out, counted and logged, and all others arrive',
    async (status) => {
      const bad = spanIdOf(historyEvents('b', 3)[1]);
      receiver.refuse((spans) => (spans.some(({ spanId }) => spanId === bad) ? status : null));
      const logged: object[] = [];
      const exporter = startExporter({
        log: { info: () => undefined, warn: (details) => void logged.push(details) },
      });
      const batches = ['a', 'b', 'c'].map((name) => ({ historyEvents: historyEvents(name, 3) }));
      await storeBatches(batches, exporter);
      await expect
        .poll(() => exporter.status())
        .toMatchObject({ doneBatch: 3, state: 'ok', spansExported: 8 });
      expect(new Set(spanIds()).size).toBe(8);
      expect(spanIds()).not.toContain(bad);
      expect(logged).toContainEqual(expect.objectContaining({ spanId: bad }));
    },
  );

  it('wait as long as the receiver asks for', async () => {
    receiver.answerWith(503, { 'retry-after': '1' });
    const exporter = startExporter();
    await storeBatches([{ historyEvents: historyEvents('a', 1) }], exporter);
    await expect.poll(() => receiver.requests()).toBe(1);
    receiver.answerWith(200);
    await expect.poll(() => receiver.spans.length).toBe(1);
    const [first, second] = receiver.times;
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(990);
  });

  it('that the receiver rejects out of a request that it takes are counted, logged and not sent again', async () => {
    receiver.reject(2);
    const logged: object[] = [];
    const exporter = startExporter({
      log: { info: () => undefined, warn: (details) => void logged.push(details) },
    });
    await storeBatches([{ historyEvents: historyEvents('a', 5) }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 1, state: 'ok', spansExported: 3 });
    expect(logged).toContainEqual({ rejected: 2, of: 5 });
    expect(receiver.requests()).toBe(1);
  });

  it('of a sampled trace carry their rate, as an attribute and to other samplers', async () => {
    const exporter = startExporter({
      sampler: () => ({ rate: 0.25, traceState: 'ot=th:c' }),
      toSpans({ events, settlements }, sampling) {
        const all = [...itemSpans(events), ...settlements.map(rootSpan)];
        return sampling === null ? all : markSampled(all, sampling);
      },
    });
    await storeBatches([{ historyEvents: [historyEvent()], settlements: [settlement()] }], exporter);
    await expect.poll(() => receiver.spans.length).toBe(2);
    for (const span of receiver.spans)
      expect(span).toMatchObject({ traceState: 'ot=th:c', attributes: { 'payment.sampling.rate': 0.25 } });
  });

  it('that make a request too large go out in smaller ones', async () => {
    receiver.refuse((spans) => (spans.length > 2 ? 413 : null));
    const exporter = startExporter();
    await storeBatches([{ historyEvents: historyEvents('a', 9) }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 1, spansExported: 9 });
    expect(new Set(spanIds()).size).toBe(9);
  });

  it('are sent once each over restarts of the exporter, from where it was', async () => {
    const first = startExporter();
    await storeBatches(
      [{ historyEvents: historyEvents('a', 3) }, { historyEvents: historyEvents('b', 2) }],
      first,
    );
    await expect.poll(() => receiver.spans.length).toBe(5);
    await first.stop(1000);
    await storeBatches([{ historyEvents: historyEvents('c', 4) }]);
    const second = startExporter();
    await expect.poll(() => receiver.spans.length).toBe(9);
    await expect.poll(() => second.status().backlogBatches).toBe(0);
    expect(new Set(spanIds()).size).toBe(9);
  });

  it('wait in the store while no exporter runs or the receiver is down at a stop', async () => {
    receiver.answerWith(503);
    const first = startExporter();
    await storeBatches([{ historyEvents: historyEvents('a', 2) }], first);
    await expect.poll(() => first.status().state).toBe('retrying');
    const started = performance.now();
    await first.stop(2000);
    expect(performance.now() - started).toBeLessThan(2500);
    receiver.answerWith(200);
    startExporter();
    await expect.poll(() => receiver.spans.length).toBe(2);
  });

  it('are sent once for an item that was stored twice', async () => {
    const exporter = startExporter();
    const rows = historyEvents('a', 3);
    const again = rows.map((row) => ({ ...row, observed_at: row.observed_at + 1 }));
    await storeBatches(
      [{ historyEvents: rows }, { historyEvents: again }, { historyEvents: historyEvents('z', 1) }],
      exporter,
    );
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 3, backlogBatches: 0 });
    expect(receiver.spans.length).toBe(4);
    expect(new Set(spanIds()).size).toBe(4);
  });

  it('are sent once for an item that a kill left behind and that was read again', async () => {
    const rows = historyEvents('a', 2);
    await storeBatches([{ historyEvents: rows }]);
    // The engine had written the items, and not the ledger.
    await store.command(`TRUNCATE TABLE ${TABLES.ingestLedger}`);
    const exporter = startExporter();
    // What was left behind goes out with the next batch, before it is read again.
    await storeBatches([{ historyEvents: historyEvents('b', 1) }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 2, backlogBatches: 0 });
    const again = rows.map((row) => ({ ...row, observed_at: row.observed_at + 1 }));
    await storeBatches([{ historyEvents: again }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 3, backlogBatches: 0 });
    expect(receiver.spans).toHaveLength(3);
    expect(new Set(spanIds()).size).toBe(3);
  });

  it('go out at once after a pause, then those of an interval together, and at a stop without waiting', async () => {
    const exporter = startExporter({ intervalMs: 3_600_000 });
    await storeBatches([{ historyEvents: historyEvents('a', 1) }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 1, backlogBatches: 0 });
    for (const name of ['b', 'c']) await storeBatches([{ historyEvents: historyEvents(name, 1) }], exporter);
    expect(exporter.status()).toMatchObject({ doneBatch: 1, backlogBatches: 2 });
    await exporter.stop(5000);
    expect(receiver.spans).toHaveLength(3);
    expect(receiver.requests()).toBe(2);
  });

  it('are those of the collector alone', async () => {
    const exporter = startExporter();
    await storeBatches([{ historyEvents: historyEvents('other', 3) }], undefined, 'c2');
    await storeBatches([{ historyEvents: historyEvents('own', 2) }], exporter);
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 1, spansExported: 2 });
    const orders = receiver.spans.map((span) => span.attributes['payment.external_id']);
    expect(orders).toEqual(['own-0', 'own-1']);
  });

  it('go out in requests of limited size, whatever the batches hold', async () => {
    const exporter = startExporter({ batchSize: 100, windowRows: 150 });
    await storeBatches(
      [
        { historyEvents: historyEvents('a', 90) },
        { historyEvents: historyEvents('b', 90) },
        { historyEvents: historyEvents('c', 330) },
      ],
      exporter,
    );
    await expect.poll(() => exporter.status()).toMatchObject({ doneBatch: 3, backlogBatches: 0 });
    expect(new Set(spanIds()).size).toBe(510);
    expect(receiver.requests()).toBe(1 + 1 + 4);
  });
});
