import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { HttpReply, PollerStatus } from '../../schemas/polling.ts';
import { gatewayOfKey, type WatchedOrder } from '../../schemas/watch.ts';
import { createGatewayPoller, type GatewayPoller } from './gateway-poller.ts';
import type { ApplyReply, AskStatus, PollerEvent, TrackedOrders } from './poller-contract.ts';

/** Reads orders of one gateway. */
export interface StatusReader {
  /**
   * One status request; never rejects for what the gateway does.
   * @param deadlineMs shortens the deadline of the configuration
   */
  read(order: WatchedOrder, deadlineMs?: number): Promise<HttpReply>;
  close(): Promise<void>;
}

export interface PollerOptions {
  readonly gateways: readonly GatewayConfig[];
  readonly reader: (gateway: GatewayConfig) => StatusReader;
  readonly clock: Clock;
  /** Is the order this collector's to go on with? @default always */
  readonly owns?: (order: WatchedOrder) => boolean;
  readonly onEvent: (gateway: string, event: PollerEvent) => void;
}

/**
 * The status poller over all gateways. Each has queues and budgets of its own, so none can starve another.
 */
export interface Poller extends TrackedOrders {
  /** Sends requests from now on; their replies go to `apply`. */
  start(apply: ApplyReply): void;
  readonly ask: AskStatus;
  status(): ReadonlyMap<string, PollerStatus>;
  /** Starts no further request and waits for those under way until their replies are applied. */
  stop(): Promise<void>;
}

export function createPoller({ gateways, reader, clock, owns, onEvent }: PollerOptions): Poller {
  const readers: StatusReader[] = [];
  const newReader = (gateway: GatewayConfig): StatusReader => {
    const made = reader(gateway);
    readers.push(made);
    return made;
  };
  const pollers = new Map<string, GatewayPoller>();
  for (const gateway of gateways) {
    const { name, poll } = gateway;
    const [forPolls, forQuestions] = [newReader(gateway), newReader(gateway)];
    pollers.set(
      name,
      createGatewayPoller({
        policy: poll,
        clock,
        read: (order) => forPolls.read(order),
        readForQuestion: (order, deadlineMs) => forQuestions.read(order, deadlineMs),
        ...(owns === undefined ? {} : { owns }),
        onEvent: (event) => onEvent(name, event),
      }),
    );
  }
  const of = (key: string): GatewayPoller | undefined => pollers.get(gatewayOfKey(key));

  return {
    start(apply) {
      for (const poller of pollers.values()) poller.start(apply);
    },
    // An order of a gateway that left the configuration stays in the store, and is tracked again with it.
    resume: (tracked) => pollers.get(tracked.order.gateway)?.resume(tracked),
    release() {
      for (const poller of pollers.values()) poller.release();
    },
    track: (tracked, cause, calledAt) => pollers.get(tracked.order.gateway)?.track(tracked, cause, calledAt),
    nudge: (key) => of(key)?.nudge(key) ?? false,
    get: (key) => of(key)?.get(key),
    recall: (key) => of(key)?.recall(key),
    async ask(order, deadlineMs) {
      const poller = pollers.get(order.gateway);
      return poller === undefined ? { asked: false, reason: 'stopped' } : poller.ask(order, deadlineMs);
    },
    status: () => new Map([...pollers].map(([name, poller]) => [name, poller.status()])),
    async stop() {
      await Promise.all([...pollers.values()].map((poller) => poller.stop()));
      await Promise.all(readers.map((one) => one.close()));
    },
  };
}
