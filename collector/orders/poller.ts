import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { HttpReply, PollerStatus } from '../../schemas/polling.ts';
import { gatewayOfKey, type WatchedOrder } from '../../schemas/watch.ts';
import { createGatewayPoller, type GatewayPoller } from './gateway-poller.ts';
import type { ApplyReply, PollerEvent, TrackedOrders } from './poller-contract.ts';

/** Reads orders of one gateway. */
export interface StatusReader {
  /** One status request; never rejects for what the gateway does. */
  read(order: WatchedOrder): Promise<HttpReply>;
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
  status(): ReadonlyMap<string, PollerStatus>;
  /** Starts no further request and waits for those under way until their replies are applied. */
  stop(): Promise<void>;
}

export function createPoller({ gateways, reader, clock, owns, onEvent }: PollerOptions): Poller {
  const readers = new Map(gateways.map((gateway) => [gateway.name, reader(gateway)]));
  const pollers = new Map<string, GatewayPoller>();
  for (const { name, poll } of gateways) {
    pollers.set(
      name,
      createGatewayPoller({
        policy: poll,
        clock,
        read: (order) => (readers.get(name) as StatusReader).read(order),
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
    track: (tracked, cause) => pollers.get(tracked.order.gateway)?.track(tracked, cause),
    nudge: (key) => of(key)?.nudge(key) ?? false,
    get: (key) => of(key)?.get(key),
    status: () => new Map([...pollers].map(([name, poller]) => [name, poller.status()])),
    async stop() {
      await Promise.all([...pollers.values()].map((poller) => poller.stop()));
      await Promise.all([...readers.values()].map((one) => one.close()));
    },
  };
}
