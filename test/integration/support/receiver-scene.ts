import { expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import type { OrderTruth } from '../../../sandbox/truth.ts';
import {
  type CollectorProcess,
  type ConfigInput,
  startCollectorProcess,
} from '../../support/collector-process.ts';
import { until } from '../../support/until.ts';
import { orderTextOf, traceIdOf } from './expected-spans.ts';
import { gatewayConfig } from './gateway.ts';

/** A span as any receiver shows it. Times in microseconds since 1970. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly startMicros: number;
  readonly endMicros: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Orders of the sandbox in a collector that sends their spans to a receiver. */
export interface ReceiverScene {
  readonly collector: CollectorProcess;
  readonly orders: readonly OrderTruth[];
  readonly traceIds: readonly string[];
  /** Spans of these orders as SQL shows them, by span id. Waits until all orders are settled. */
  spansOfStore(): Promise<SeenSpan[]>;
  stop(): Promise<void>;
}

const GATEWAY = 'acme-eu';

/** Paid, refused by the issuer, failed technically twice, and with codes that nobody knows. */
const HISTORIES: readonly (readonly [status: string, actions: readonly string[]])[] = [
  ['Success', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '3.1.1.55', '4.3.1.00', '6.1.1.00']],
  ['Failed', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.1.4.63']],
  ['Failed', ['1.0.0.00', '2.2.4.11', '2.2.4.11']],
  ['Failed', ['1.0.0.00', '17.3.1.250', '4.1.4.18']],
];

/**
 * Starts all of it. `env` is where the receiver is, by the standard `OTEL_*`; `seed` returns the ids of one
 * scene from those of another.
 */
export async function startReceiverScene(
  env: Readonly<Record<string, string>>,
  seed = '1',
  more: Partial<ConfigInput> = {},
): Promise<ReceiverScene> {
  const sandbox: Sandbox = await createSandbox({ seed });
  const collector = await startCollectorProcess({
    config: { gateways: [gatewayConfig(sandbox, { name: GATEWAY })], ...more },
    env: { OTEL_METRICS_EXPORTER: 'none', ...env },
  });
  const orders = HISTORIES.map(([status, actions]) =>
    sandbox.seedOrder({
      status,
      items: actions.map((action, place) => ({ action, offsetMs: (place - 10) * 750 })),
    }),
  );
  const watched = orders.map(({ orderType, externalId }) => ({ orderType, externalId }));
  for (const order of watched) {
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify(order),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(reply.status).toBe(202);
  }
  return {
    collector,
    orders,
    traceIds: orders.map((order) => traceIdOf(orderTextOf(GATEWAY, order))),
    async spansOfStore() {
      const settled = () =>
        collector.query<{ n: number }>('SELECT count() AS n FROM orders WHERE settled_at IS NOT NULL');
      await until('all orders to settle', settled, ([row]) => row?.n === orders.length);
      return (await collector.query<StoredSpan>(SPANS_SQL)).map(fromStore);
    },
    async stop() {
      await collector[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

interface StoredSpan extends Omit<SeenSpan, 'isError' | 'attributes'> {
  readonly isError: number;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
}

const SPANS_SQL = `SELECT traceID AS traceId, spanID AS spanId, parentSpanID AS parentSpanId,
    operationName AS name, toUnixTimestamp64Micro(startTime) AS startMicros,
    startMicros + toInt64(round(duration * 1000)) AS endMicros, statusCode = 2 AS isError, tags
FROM order_trace`;

const fromStore = ({ tags, isError, ...span }: StoredSpan): SeenSpan => ({
  ...span,
  isError: isError === 1,
  attributes: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
});

/**
 * Every span of the store is there once and says the same; the receiver's attributes may be more than those
 * in SQL, which are text.
 */
export function expectSameSpans(seen: readonly SeenSpan[], stored: readonly SeenSpan[]): void {
  const byId = (spans: readonly SeenSpan[]) => spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
  const shared = new Map(stored.map(({ spanId, attributes }) => [spanId, Object.keys(attributes)]));
  const cut = seen.map((span) => ({
    ...span,
    attributes: Object.fromEntries(
      (shared.get(span.spanId) ?? []).map((key) => [key, String(span.attributes[key])]),
    ),
  }));
  expect(byId(cut)).toEqual(byId(stored));
}
