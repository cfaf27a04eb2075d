import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { ALONE } from '../../collector/orders/memory.ts';
import { handleCallbacks } from '../../collector/orders/callbacks.ts';
import { createPoller, type Poller } from '../../collector/orders/poller.ts';
import { resumeOrders } from '../../collector/orders/ownership.ts';
import { applyReply } from '../../collector/orders/replies.ts';
import { createSignatureExaminer } from '../../collector/orders/signature-examiner.ts';
import { handleWatchRequests } from '../../collector/orders/watch-requests.ts';
import { createMemorySink, type MemorySink } from '../../collector/sinks/memory/sink.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema, type GatewayConfig } from '../../schemas/config.ts';
import type { RowBundle } from '../../schemas/rows.ts';
import type { Provenance } from '../../schemas/sink.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { fingerprint } from '../support/fingerprint.ts';
import { createMemoryWatchStore } from '../support/memory-watch-store.ts';
import { CALLBACK_KEY, callbacksOf, replyAt } from './gateway-view.ts';
import { DAY, GATEWAYS, HOUR, MINUTE, NOW, RESTART_AT, START, type StoryOrder } from './story.ts';

/** What a collector writes in one go, and when. */
export interface WrittenBundle {
  readonly atMs: number;
  readonly bundle: RowBundle;
  readonly provenance: Provenance;
}

export const COLLECTOR = 'golden-collector';

/**
 * Lets the collector's own poller and handlers live through the story on a clock of their own, and returns
 * all that they write, in order: what the store then holds follows from the product alone.
 */
export async function playStory(orders: readonly StoryOrder[]): Promise<WrittenBundle[]> {
  const clock = createFakeClock(START);
  const nowMs = (): number => clock.now() / 1000;
  const memory = createMemorySink({ nowMicros: clock.now });
  const written: WrittenBundle[] = [];
  const write = async (bundle: RowBundle, provenance: Provenance): Promise<void> => {
    written.push({ atMs: nowMs(), bundle, provenance });
    await memory.write(bundle, provenance);
  };
  const views = findOrders(orders);
  const parts = { clock, memory, write, views };
  let run = startCollector(parts);
  for (const event of eventsOf(orders)) {
    await clock.advance(event.atMs - nowMs());
    if (event.what === 'input') await event.happen(run.context);
    else if (event.what === 'restart') run = await restart(run, parts);
    else await write(reportOf(run.poller, clock.now()), {});
  }
  await clock.advance(NOW - nowMs());
  await run.poller.stop();
  return written;
}

type StoryEvent =
  | { readonly atMs: number; readonly what: 'restart' | 'report' }
  | {
      readonly atMs: number;
      readonly what: 'input';
      readonly happen: (to: OrdersContext) => Promise<unknown>;
    };

function eventsOf(orders: readonly StoryOrder[]): StoryEvent[] {
  const reports: StoryEvent[] = [];
  for (let atMs = START; atMs < NOW; atMs += atMs < NOW - DAY ? HOUR : MINUTE)
    reports.push({ atMs, what: 'report' });
  const events: StoryEvent[] = [
    ...reports,
    { atMs: RESTART_AT, what: 'restart' },
    ...orders.flatMap((order) => [...watched(order), ...called(order)]),
  ];
  return events.filter(({ atMs }) => atMs < NOW).toSorted((a, b) => a.atMs - b.atMs);
}

function watched(order: StoryOrder): StoryEvent[] {
  if (order.heardBy === 'callback') return [];
  const id =
    order.heardBy === 'watch'
      ? { externalId: order.externalId }
      : { externalTransactionId: order.externalTransactionId };
  const message = {
    gateway: order.gateway,
    orderType: order.orderType,
    channel: order.channel,
    amount: (order.amountMinor / 100).toFixed(2),
    currency: order.currency,
    ...id,
  };
  const request = {
    message,
    problem: null,
    source: 'http',
    deliveryId: `watch-${order.number}`,
    coordinates: null,
  } as const;
  const happen: (to: OrdersContext) => Promise<unknown> = (context) =>
    handleWatchRequests([request], context, { watchRequests: 1 });
  return [{ atMs: order.createdAt + 700, what: 'input', happen }];
}

const called = (order: StoryOrder): StoryEvent[] =>
  callbacksOf(order).map(({ atMs, delivery }) => ({
    atMs,
    what: 'input',
    happen: (context) => handleCallbacks([delivery], context, { httpDeliveries: 1 }),
  }));

interface Parts {
  readonly clock: FakeClock;
  readonly memory: MemorySink;
  readonly write: OrdersContext['write'];
  readonly views: ReturnType<typeof findOrders>;
}

interface Run {
  readonly context: OrdersContext;
  readonly poller: Poller;
  readonly kill: () => void;
}

function startCollector({ clock, memory, write, views }: Parts): Run {
  const configs = GATEWAYS.map(configOf);
  const gateways = new Map(configs.map((gateway) => [gateway.name, gateway]));
  let killed = false;
  const alive = <T>(value: T): T | Promise<never> => (killed ? new Promise<never>(() => {}) : value);
  let reads = 0;
  const poller = createPoller({
    gateways: configs,
    clock,
    reader: (gateway) => ({
      async read(order) {
        reads += 1;
        const tookMs = 20 + ((reads * 37) % 280);
        const { promise, resolve } = Promise.withResolvers<void>();
        clock.after(tookMs, resolve);
        await promise;
        return alive(replyAt(views(order.orderId), gateway.name, clock.now() / 1000));
      },
      close: async () => {},
    }),
    onEvent(_gateway, event) {
      if (event.type === 'apply_failed') throw event.error;
    },
  });
  const context: OrdersContext = {
    collectorId: COLLECTOR,
    historyDays: 400,
    clock: { ...clock, now: createStamp(clock) },
    random: () => 0.5,
    gateways,
    watchStore: createMemoryWatchStore(memory),
    tracked: poller,
    owns: () => true,
    memory: ALONE,
    handOver: null,
    examiner: createSignatureExaminer({ gateways, clock, tracked: (key) => poller.get(key) }),
    instruments: noInstruments(),
    fingerprint,
    write: async (bundle, provenance) => alive(await write(bundle, provenance)),
  };
  poller.start((reply) => applyReply(reply, context));
  const kill = (): void => {
    killed = true;
    void poller.stop();
  };
  return { context, poller, kill };
}

async function restart(run: Run, parts: Parts): Promise<Run> {
  run.kill();
  const next = startCollector(parts);
  const { watchStore } = next.context;
  await resumeOrders(watchStore, watchStore.active(), next.poller.resume);
  return next;
}

function configOf(name: string): GatewayConfig {
  return gatewayConfigSchema.parse({
    name,
    secureUrl: 'https://gateway.example',
    token: 'a-token',
    callbackKeys: [CALLBACK_KEY],
    poll: { jitter: 0 },
  });
}

/** What the collector reports of its gateways: measures end where their watermarks are. */
function reportOf(poller: Poller, now: number): RowBundle {
  const pollers = [...poller.status()];
  return {
    collectorStatus: [
      {
        collector_id: COLLECTOR,
        reported_at: now,
        version: '0.1.0',
        started_at: START * 1000,
        consumer_lag: 0,
        transaction_open_seconds: 0,
        last_progress_at: now,
        watched_orders: pollers.reduce((sum, [, { watched: count }]) => sum + count, 0),
        due_orders: 0,
        lateness_p99_ms: 0,
        circuits_open: 0,
        rejects_total: 0,
        duplicates_total: 0,
        retries_total: 0,
        spans_exported_total: 0,
        span_backlog: 0,
        memory_bytes: 150_000_000,
      },
    ],
    gatewayStatus: pollers.map(([gateway, status]) => ({
      gateway,
      collector_id: COLLECTOR,
      reported_at: now,
      watermark_at: status.watermarkAt,
      watched_orders: status.watched,
      due_orders: status.due,
      circuits_open: status.circuitsOpen,
      last_reply_at: status.lastReplyAt,
      clock_skew_seconds: status.clockSkewSeconds,
      requests_per_second: 1,
      requests_per_second_limit: status.requestsPerSecondLimit,
      requests_in_flight: 0,
      concurrency_limit: status.concurrencyLimit,
    })),
  };
}

/** Orders by either of their ids. */
function findOrders(orders: readonly StoryOrder[]): (id: string) => StoryOrder | undefined {
  const byId = new Map(
    orders.flatMap((order) => [
      [order.externalId, order] as const,
      [order.externalTransactionId, order] as const,
    ]),
  );
  return (id) => byId.get(id);
}
