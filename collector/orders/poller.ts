import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';
import { createGatewayPoller } from './gateway-poller.ts';
import type { PollerStatus } from '../../schemas/polling.ts';
import type { GatewayPoller, HandleAnswer, PollerEvent, Watched } from './poller-port.ts';
import { createStatusClient } from '../sources/gateway/status-client.ts';

export interface PollerOptions {
  readonly gateways: readonly GatewayConfig[];
  readonly clock: Clock;
  readonly handle: HandleAnswer;
  readonly reopen: (order: WatchedOrder) => WatchedOrder;
  /** Is the order this collector's to go on with? @default always */
  readonly keeps?: (order: WatchedOrder) => boolean;
  readonly onEvent: (gateway: string, event: PollerEvent) => void;
}

/**
 * The status poller over all gateways. Each has queues and budgets of its own, so none can starve another.
 */
export interface Poller {
  resume(watched: Watched): void;
  /** Forgets the orders that others keep. */
  release(): void;
  takeUp(key: string, watched: Watched, cause: PollCause): void;
  nudge(gateway: string, key: string): boolean;
  get(gateway: string, key: string): WatchedOrder | undefined;
  status(): ReadonlyMap<string, PollerStatus>;
  stop(): Promise<void>;
}

export function createPoller(options: PollerOptions): Poller {
  const parts = new Map<string, { poller: GatewayPoller; close: () => Promise<void> }>();
  for (const gateway of options.gateways) {
    const client = createStatusClient(gateway);
    const poller = createGatewayPoller({
      policy: gateway.poll,
      clock: options.clock,
      read: (order) => client.read(order),
      handle: options.handle,
      reopen: options.reopen,
      ...(options.keeps === undefined ? {} : { keeps: options.keeps }),
      onEvent: (event) => options.onEvent(gateway.name, event),
    });
    parts.set(gateway.name, { poller, close: () => client.close() });
  }
  const of = (gateway: string): GatewayPoller | undefined => parts.get(gateway)?.poller;

  return {
    // An order of a gateway that left the configuration stays in the store, and is taken up again with it.
    resume: (watched) => of(watched.order.gateway)?.resume(watched),
    release() {
      for (const { poller } of parts.values()) poller.release();
    },
    takeUp: (key, watched, cause) => of(watched.order.gateway)?.takeUp(key, watched, cause),
    nudge: (gateway, key) => of(gateway)?.nudge(key) ?? false,
    get: (gateway, key) => of(gateway)?.get(key),
    status: () => new Map([...parts].map(([name, { poller }]) => [name, poller.status()])),
    async stop() {
      await Promise.all([...parts.values()].map(({ poller }) => poller.stop()));
      await Promise.all([...parts.values()].map(({ close }) => close()));
    },
  };
}
