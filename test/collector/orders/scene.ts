import { createGatewayPoller, type GatewayPoller } from '../../../collector/orders/gateway-poller.ts';
import type { HttpReply } from '../../../schemas/polling.ts';
import type { AppliedReply, PolledReply, PollerEvent } from '../../../collector/orders/poller-contract.ts';
import { advance } from '../../../collector/orders/advance.ts';
import { pollConfigSchema, type PollConfig } from '../../../schemas/config.ts';
import type { PollOutcome } from '../../../schemas/rows.ts';
import { watchKey, type PollCause, type WatchedOrder } from '../../../schemas/watch.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { watchedOrder } from '../../support/watched-order.ts';

export interface Start {
  readonly orderId: string;
  readonly atMs: number;
  readonly cause: PollCause;
  readonly latenessMs: number;
}

export interface Scene {
  readonly clock: FakeClock;
  readonly poller: GatewayPoller;
  /**
   * Requests in the order of their start, with those under way (whose cause and lateness are not known yet).
   */
  readonly started: { orderId: string; atMs: number }[];
  /** Answers in the order in which they were handled. */
  readonly handled: PolledReply[];
  readonly events: PollerEvent[];
  readonly most: { inFlight: number };
  /** An order at the moment, taken up by whoever. */
  order(more?: Partial<WatchedOrder>): WatchedOrder;
  watch(orderId: string, cause?: PollCause, more?: Partial<WatchedOrder>): string;
  startsOf(orderId: string): number[];
}

export interface SceneOptions {
  readonly policy?: Partial<PollConfig>;
  /** How a request ends; `ok` and pending by default. May wait on the clock. */
  readonly answer?: (
    order: WatchedOrder,
    clock: FakeClock,
  ) => Promise<Partial<HttpReply>> | Partial<HttpReply>;
  /** Is the order's status final in an `ok` reply? @default never */
  readonly final?: (order: WatchedOrder) => boolean;
  /** Stands in the place of the store and decoder; by default the schedule alone decides. */
  readonly handle?: (answer: PolledReply, next: AppliedReply) => Promise<AppliedReply>;
  readonly maxPendingReplies?: number;
  readonly maxPendingBytes?: number;
  /** @default always */
  readonly owns?: (order: WatchedOrder) => boolean;
}

export const wait = (clock: FakeClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

/**
 * A poller on a clock that stands still, the real schedule behind it, and a gateway that answers as a test
 * says.
 */
export function createScene(options: SceneOptions = {}): Scene {
  const clock = createFakeClock();
  const policy = pollConfigSchema.parse({ jitter: 0, ...options.policy });
  const started: Scene['started'] = [];
  const handled: PolledReply[] = [];
  const events: PollerEvent[] = [];
  const most = { inFlight: 0 };
  let inFlight = 0;
  const underWay = new Set<string>();

  const poller = createGatewayPoller({
    policy,
    clock,
    ...(options.maxPendingReplies === undefined ? {} : { maxPendingReplies: options.maxPendingReplies }),
    ...(options.maxPendingBytes === undefined ? {} : { maxPendingBytes: options.maxPendingBytes }),
    ...(options.owns === undefined ? {} : { owns: options.owns }),
    onEvent: (event) => events.push(event),
    async read(order) {
      const key = watchKey(order);
      if (underWay.has(key)) throw new Error(`two requests at once for ${key}`);
      underWay.add(key);
      started.push({ orderId: order.orderId, atMs: clock.monotonicMs() });
      inFlight += 1;
      most.inFlight = Math.max(most.inFlight, inFlight);
      try {
        const answer = (await options.answer?.(order, clock)) ?? {};
        return {
          httpStatus: 200,
          outcome: 'ok',
          errorType: '',
          body: '{}',
          bodyBytes: 2,
          retryAfterMs: null,
          ...answer,
        };
      } finally {
        inFlight -= 1;
        underWay.delete(key);
      }
    },
  });
  poller.start(async (answer) => {
    handled.push(answer);
    const final = answer.outcome === 'ok' && options.final?.(answer.order) === true;
    const facts = {
      outcome: answer.outcome,
      orderStatus: answer.outcome === 'ok' ? (final ? 'Success' : 'Processing') : null,
      final,
      newItems: 0,
      retryAfterMs: answer.retryAfterMs,
    };
    const order = advance(answer.order, facts, policy, answer.repliedAt, 0.5);
    const next = { order, known: answer.known ?? '', outcome: answer.outcome };
    return (await options.handle?.(answer, next)) ?? next;
  });

  const order = (more: Partial<WatchedOrder> = {}) =>
    watchedOrder({ nextPollAt: clock.now(), firstSeenAt: clock.now(), ...more });
  return {
    clock,
    poller,
    started,
    handled,
    events,
    most,
    order,
    watch(orderId, cause = 'watch', more = {}) {
      const one = order({ orderId, ...more });
      poller.track({ order: one, known: '' }, cause);
      return watchKey(one);
    },
    startsOf: (orderId) => started.filter((one) => one.orderId === orderId).map(({ atMs }) => atMs),
  };
}

export const refusal = (outcome: PollOutcome, httpStatus: number, more: Partial<HttpReply> = {}) => ({
  outcome,
  httpStatus,
  body: null,
  ...more,
});

/** The most events within any window of that length, both as sorted times. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? 0) <= time - windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
