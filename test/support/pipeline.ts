import { createHash } from 'node:crypto';
import type { CallbackDelivery } from '../../collector/decode/callback.ts';
import { handleCallbacks } from '../../collector/orders/callbacks.ts';
import { createSignatureExaminer } from '../../collector/orders/signature-examiner.ts';
import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { ALONE } from '../../collector/orders/memory.ts';
import { createHandOver, type OwnerHintMessage } from '../../collector/orders/owner-hint.ts';
import { applyReply } from '../../collector/orders/replies.ts';
import { resumeOrders } from '../../collector/orders/ownership.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { handleWatchRequests } from '../../collector/orders/watch-requests.ts';
import { createMemorySink, type MemorySink } from '../../collector/sinks/memory/sink.ts';
import { createGatewayPoller, type GatewayPoller } from '../../collector/orders/gateway-poller.ts';
import type { HttpReply } from '../../schemas/polling.ts';
import type { PollerEvent } from '../../collector/orders/poller-contract.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema, type PollConfig } from '../../schemas/config.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { WatchedOrder, WatchRef } from '../../schemas/watch.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createMemoryWatchStore } from './memory-watch-store.ts';
import { fingerprint } from './fingerprint.ts';

export const GATEWAY = 'acme-eu';
export const CALLBACK_KEY = '0123456789abcdef0123456789abcdef';

/** An order as the gateway has it. */
export interface GatewayOrder {
  externalId: string;
  externalTransactionId?: string;
  orderStatus: string;
  /** `[seconds after the start, action]`. */
  history: [number, string][];
  amount?: number;
  currency?: string | null;
}

export interface Pipeline {
  readonly clock: FakeClock;
  readonly sink: MemorySink;
  readonly context: OrdersContext;
  /** What the gateway knows, by either id. */
  readonly orders: Map<string, GatewayOrder>;
  /** Answers that come instead, by id. */
  readonly answers: Map<string, Partial<HttpReply>>;
  readonly reads: { orderId: string; atMs: number }[];
  readonly events: PollerEvent[];
  /** Hints for other collectors that the brokers have. */
  readonly handedOver: OwnerHintMessage[];
  /** The brokers take no hints while this is set. */
  readonly brokers: { away: boolean };
  /**
   * The gateway answers no request from now on; the returned function lets the answers through that it owes.
   */
  holdReads(): () => void;
  /** The poller of the present run. */
  poller(): GatewayPoller;
  receive(...deliveries: CallbackDelivery[]): Promise<void>;
  watch(...messages: NonNullable<WatchRequest['message']>[]): Promise<unknown>;
  /**
   * Kills the collector, with what it had in memory, and starts another on the same store. Returns the orders
   * resumed.
   */
  restart(): Promise<number>;
}

let deliveries = 0;

/** A callback, signed as section 6.3 of the interface says. */
export function callback(
  fields: { externalId: string; status?: string; amount?: string; orderType?: string; currency?: string },
  more: Partial<CallbackDelivery> & { key?: string } = {},
): CallbackDelivery {
  const { key = CALLBACK_KEY, ...rest } = more;
  const body = { status: 'Processing', amount: '100.00', orderType: 'Deposit', ...fields };
  const text = [body.externalId, body.status, body.amount, body.orderType, key].join(';');
  return {
    gateway: GATEWAY,
    body: Buffer.from(JSON.stringify(body)),
    signatures: [createHash('sha256').update(text).digest('hex')],
    deliveryId: `delivery-${(deliveries += 1)}`,
    receivedAt: Date.UTC(2026, 10, 21, 10, 15, 30) * 1000,
    source: 'kafka',
    coordinates: { topic: 'gateway.callbacks', partition: 0, offset: deliveries },
    ...rest,
  };
}

/**
 * The pipeline from poller to sink, on a clock that stands still and a store in memory.
 * @param owns are orders this collector's; one that owns none hands them over
 */
export function createPipeline(
  policy: Partial<PollConfig> = {},
  owns: boolean | ((order: WatchRef) => boolean) = true,
): Pipeline {
  const clock = createFakeClock();
  const sink = createMemorySink({ nowMicros: clock.now });
  const startMs = clock.now() / 1000;
  const orders: Pipeline['orders'] = new Map();
  const answers: Pipeline['answers'] = new Map();
  const reads: Pipeline['reads'] = [];
  const events: PollerEvent[] = [];
  const handedOver: OwnerHintMessage[] = [];
  const brokers = { away: false };
  const handOver = createHandOver(async (messages) => {
    if (brokers.away) throw new GatewatchError('the broker is away', { code: 'kafka_unreachable' });
    handedOver.push(...messages);
  });
  const gateway = gatewayConfigSchema.parse({
    name: GATEWAY,
    secureUrl: 'https://gateway.example',
    token: 'a-token',
    callbackKeys: [CALLBACK_KEY, 'the-key-before-that-one-00000000'],
    poll: { jitter: 0, ...policy },
  });

  let gate = Promise.resolve();

  async function read({ orderId }: WatchedOrder): Promise<HttpReply> {
    reads.push({ orderId, atMs: clock.monotonicMs() });
    await gate;
    const known = orders.get(orderId);
    const body = known === undefined ? null : replyText(known, startMs);
    const answer = {
      httpStatus: body === null ? 404 : 200,
      outcome: body === null ? ('not_found' as const) : ('ok' as const),
      errorType: body === null ? 'http_404' : '',
      body,
      bodyBytes: body?.length ?? 0,
      retryAfterMs: null,
    };
    return { ...answer, ...answers.get(orderId) };
  }

  function start(): { context: OrdersContext; poller: GatewayPoller; kill: () => void } {
    let killed = false;
    const alive = <T>(value: T): T | Promise<never> => (killed ? new Promise<never>(() => {}) : value);
    const poller = createGatewayPoller({
      policy: gateway.poll,
      clock,
      read: async (order) => alive(await read(order)),
      onEvent: (event) => events.push(event),
    });
    const context: OrdersContext = {
      collectorId: 'c1',
      historyDays: 400,
      clock: { ...clock, now: createStamp(clock) },
      random: () => 0.5,
      gateways: new Map([[gateway.name, gateway]]),
      watchStore: createMemoryWatchStore(sink),
      tracked: poller,
      owns: typeof owns === 'boolean' ? () => owns : owns,
      memory: ALONE,
      handOver,
      examiner: createSignatureExaminer({
        gateways: new Map([[gateway.name, gateway]]),
        clock,
        tracked: (key) => poller.get(key),
      }),
      instruments: noInstruments(),
      fingerprint,
      write: async (bundle, provenance) => alive(await sink.write(bundle, provenance)),
    };
    poller.start((reply) => applyReply(reply, context));
    const kill = () => {
      killed = true;
      void poller.stop();
    };
    return { context, poller, kill };
  }

  let run = start();
  return {
    clock,
    sink,
    orders,
    answers,
    reads,
    events,
    handedOver,
    brokers,
    get context() {
      return run.context;
    },
    holdReads() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    poller: () => run.poller,
    receive: (...received) => handleCallbacks(received, run.context, { kafkaRecords: received.length }),
    watch: (...messages) =>
      handleWatchRequests(
        messages.map((message, index) => ({
          message,
          problem: null,
          source: 'http',
          deliveryId: `watch-${index}`,
          coordinates: null,
        })),
        run.context,
        {},
      ),
    async restart() {
      run.kill();
      gate = Promise.resolve();
      run = start();
      return resumeOrders(run.context.watchStore, run.context.watchStore.active(), run.poller.resume);
    },
  };
}

function replyText({ history, ...order }: GatewayOrder, startMs: number): string {
  const orderHistory = history.map(([seconds, action]) => ({
    time: new Date(startMs + seconds * 1000).toISOString(),
    action,
  }));
  return JSON.stringify({ amount: 100, currency: 'EUR', orderType: 'Deposit', ...order, orderHistory });
}
