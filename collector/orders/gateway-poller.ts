import type { Clock } from '../../schemas/clock.ts';
import type { PollConfig } from '../../schemas/config.ts';
import type { HttpReply, PollerStatus } from '../../schemas/polling.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import { openCircuits } from './circuits.ts';
import {
  createGatewayState,
  gatewayStatus,
  nudgeOrder,
  releaseOrders,
  resumeOrder,
  trackOrder,
  type GatewayState,
  type PendingLimits,
} from './gateway-state.ts';
import { spend } from './request-budget.ts';
import {
  finishRead,
  nextStep,
  receiveReply,
  releasePending,
  retryRead,
  startRequest,
  type StatusRequest,
} from './status-requests.ts';
import type { Instant } from './poller-entry.ts';
import type { ApplyReply, PollerEvent, ReadOrder, TrackedOrders } from './poller-contract.ts';

export interface GatewayPollerOptions extends PendingLimits {
  readonly policy: PollConfig;
  readonly clock: Clock;
  readonly read: ReadOrder;
  /** @default always */
  readonly owns?: (order: WatchedOrder) => boolean;
  readonly onEvent: (event: PollerEvent) => void;
}

/** The poller of one gateway. */
export interface GatewayPoller extends TrackedOrders {
  /** Sends requests from now on; their replies go to `apply`. */
  start(apply: ApplyReply): void;
  status(): PollerStatus;
  /** Starts no further request and waits for those under way until their replies are applied. */
  stop(): Promise<void>;
}

/** What the poller keeps beside the gateway's state. */
interface Driver {
  readonly options: GatewayPollerOptions;
  readonly state: GatewayState;
  /** Requests whose replies are not applied yet. */
  readonly running: Set<Promise<void>>;
  /** null: before the start and after the stop. */
  apply: ApplyReply | null;
  cancelTimer: () => void;
  sequence: number;
}

/**
 * Polls the orders of one gateway: due ones in order, callbacks first, within its budget, concurrency and
 * circuits. What happens when is decided by the gateway's state; here are its clock, timer and requests.
 */
export function createGatewayPoller(options: GatewayPollerOptions): GatewayPoller {
  const state = createGatewayState(options.policy, options.owns ?? (() => true), options);
  const driver: Driver = {
    options,
    state,
    running: new Set(),
    apply: null,
    cancelTimer: () => {},
    sequence: 0,
  };
  const instant = () => instantOf(options.clock);
  return {
    start(apply) {
      driver.apply = apply;
      pump(driver);
    },
    resume(tracked) {
      resumeOrder(state, tracked, instant());
      pump(driver);
    },
    release: () => releaseOrders(state),
    track(tracked, cause) {
      trackOrder(state, tracked, cause, instant());
      pump(driver);
    },
    nudge(key) {
      const isTracked = nudgeOrder(state, key, instant());
      if (isTracked) pump(driver);
      return isTracked;
    },
    get: (key) => state.entries.get(key)?.tracked.order,
    status: () => gatewayStatus(state, instant()),
    async stop() {
      driver.apply = null;
      driver.cancelTimer();
      await Promise.allSettled(driver.running);
    },
  };
}

const instantOf = (clock: Clock): Instant => ({ now: clock.now(), nowMs: clock.monotonicMs() });

/** Starts what may start now, then sets the timer for the next moment at which something may. */
function pump(driver: Driver): void {
  const { state, running, apply } = driver;
  const { clock } = driver.options;
  driver.cancelTimer();
  if (apply === null) return;
  for (;;) {
    const step = nextStep(state, clock.monotonicMs());
    if (step === null) return;
    if ('waitMs' in step) {
      driver.cancelTimer = clock.after(Math.max(1, Math.ceil(step.waitMs)), () => pump(driver));
      return;
    }
    const run = poll(driver, startRequest(state, step.start, instantOf(clock)), apply).finally(() => {
      running.delete(run);
      pump(driver);
    });
    running.add(run);
    // By the clock after the start: whoever is held up in between must not count it as made earlier than it
    // was.
    spend(state.budget, clock.monotonicMs());
  }
}

async function poll(driver: Driver, request: StatusRequest, apply: ApplyReply): Promise<void> {
  const { state } = driver;
  const { clock, onEvent } = driver.options;
  let reply: HttpReply | null = null;
  try {
    reply = await send(driver, request);
    const replied = instantOf(clock);
    const applied = await apply({
      ...reply,
      ...request,
      pollId: `${request.startedAt}-${(driver.sequence++).toString(36)}`,
      repliedAt: replied.now,
      durationMs: replied.nowMs - request.startMs,
    });
    finishRead(state, request, applied, replied, instantOf(clock));
  } catch (error) {
    onEvent({ type: 'apply_failed', error });
    retryRead(state, request.key, clock.monotonicMs());
  } finally {
    releasePending(state, reply);
  }
}

async function send(driver: Driver, request: StatusRequest): Promise<HttpReply> {
  const { state, options } = driver;
  let reply: HttpReply | null = null;
  try {
    reply = await options.read(request.order);
    return reply;
  } finally {
    const hasChanged = receiveReply(state, request, reply, options.clock.monotonicMs());
    if (hasChanged) options.onEvent({ type: 'circuits', open: openCircuits(state.circuits) });
    pump(driver);
  }
}
