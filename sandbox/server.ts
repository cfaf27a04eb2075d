import type { AddressInfo } from 'node:net';
import { createAgenda } from './agenda.ts';
import { createApp } from './app.ts';
import { createCallbacks, type CallbackOptions } from './callbacks.ts';
import { createDepositCreation } from './create-deposit.ts';
import { createFaultBoard, type FaultBoard } from './faults.ts';
import { createIncidentBoard, type IncidentBoard } from './incidents.ts';
import { createOrderDesk } from './open-order.ts';
import { resolveOptions, type SandboxOptions } from './options.ts';
import { createOrderStore, type Order } from './orders.ts';
import { registerAdminRoutes } from './routes/admin.ts';
import { registerGatewayRoutes } from './routes/gateway.ts';
import { registerPages } from './routes/pages.ts';
import { createSeededOrders, type SeededItem, type SeededOrder } from './seeded-orders.ts';
import { createSender } from './sender.ts';
import { createStats, type SandboxStats } from './stats.ts';
import { createTraffic } from './traffic.ts';
import { truthOf, type OrderTruth } from './truth.ts';
import { createVault } from './vault.ts';
import { createWithdrawals, type WithdrawalRequest } from './withdrawals.ts';

/** Counters, and what is in memory at the moment of asking. */
export interface SandboxStatsNow extends SandboxStats {
  readonly ordersInMemory: number;
  /** History items that a status reply can show by now; those of dropped orders stay counted. */
  readonly itemsVisible: number;
  readonly callbacksPending: number;
  readonly ratePerSecond: number;
}

/** A running sandbox gateway. Its methods do what the admin API does, for tests and the demo. */
export interface Sandbox {
  readonly url: string;
  /** The three base addresses of the interface, one port (section 1). */
  readonly secureUrl: string;
  readonly tokenUrl: string;
  readonly payformUrl: string;
  readonly adminUrl: string;
  /** Bearer token of the first endpoint. */
  readonly token: string;
  /** Bearer tokens by endpoint name. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly callbackKey: string;
  readonly faults: FaultBoard;
  readonly incidents: IncidentBoard;
  /** Begins the sandbox's own traffic and the incidents of the options. The server answers before that. */
  start(): void;
  /** Closes every connection and gives up callbacks not yet sent. */
  stop(): Promise<void>;
  setRate(ratePerSecond: number): void;
  stats(): SandboxStatsNow;
  /** Every order in memory with its final history, its future included. */
  orders(): OrderTruth[];
  createWithdrawal(request?: WithdrawalRequest): OrderTruth;
  /** Throws when an id is taken. */
  seedOrder(order: SeededOrder): OrderTruth;
  appendItem(externalId: string, item: SeededItem): OrderTruth;
  setStatus(externalId: string, change: { status?: string; amount?: number }): OrderTruth;
  sendCallback(externalId: string, options?: CallbackOptions): void;
}

/**
 * Starts the gateway of the interface document on a port of its own (sections 1-9). It listens when the
 * promise resolves. Throws RangeError for options that make no sense, and the system's error when the port is
 * taken.
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const config = resolveOptions(options);
  const { clock, seed } = config;
  const now = () => clock.now();
  const stats = createStats();
  const orders = createOrderStore(config.maxOrders);
  const vault = createVault(seed);
  const faults = createFaultBoard(seed, now);
  const incidents = createIncidentBoard(now);
  const agenda = createAgenda(clock, (error) => config.log(`internal error: ${String(error)}`));
  const wire = {
    clock,
    timeoutMs: config.callbackTimeoutMs,
    maxQueued: config.maxQueued,
    retryDelaysMs: config.retryDelaysMs,
  };
  const sender = createSender({ ...wire, on: (event) => stats.callbacks[event]++ });
  const watchSender = createSender({
    ...wire,
    on: (event) => {
      if (event === 'acknowledged') stats.watch.acknowledged++;
      if (event === 'failed' || event === 'dropped') stats.watch.failed++;
    },
  });
  const callbacks = createCallbacks({ config, agenda, faults, sender, stats });
  const desk = createOrderDesk({ config, orders, vault, faults, incidents, callbacks, watchSender, stats });
  let url = '';
  const createDeposit = createDepositCreation({ seed, desk, orders, vault, now, baseUrl: () => url });
  const withdrawals = createWithdrawals({ seed, desk, orders });
  const seeded = createSeededOrders({ seed, now, desk, orders });
  const traffic = createTraffic({ config, agenda, incidents, vault, createDeposit, withdrawals });

  let droppedItems = 0;
  const statsNow = (): SandboxStatsNow => ({
    ...structuredClone(stats),
    ordersInMemory: orders.size,
    itemsVisible: droppedItems + visibleItems(orders.values(), now()),
    callbacksPending: sender.pending,
    ratePerSecond: traffic.ratePerSecond,
  });
  const sweep = () => {
    const dropped = orders.drop(now(), config.retentionMs);
    stats.orders.dropped += dropped.length;
    droppedItems += visibleItems(dropped, now());
    agenda.at(now() + SWEEP_MS, sweep);
  };

  const app = createApp(config);
  registerGatewayRoutes(app, { config, orders, faults, stats, createDeposit });
  registerPages(app, orders, now);
  registerAdminRoutes(app, {
    config,
    orders,
    faults,
    incidents,
    callbacks,
    traffic,
    withdrawals,
    seeded,
    stats: statsNow,
  });
  await app.listen({ host: config.host, port: config.port });
  url = urlOf(app.server.address() as AddressInfo);
  sweep();

  const find = (externalId: string): Order => {
    const order = orders.byExternalId('Deposit', externalId) ?? orders.byExternalId('Withdrawal', externalId);
    if (!order) throw new RangeError(`no order ${externalId}`);
    return order;
  };
  const made = (order: Order | 'exists' | 'full'): OrderTruth => {
    if (typeof order === 'string')
      throw new RangeError(order === 'exists' ? 'an order with this id exists' : 'no room');
    return truthOf(order, now());
  };
  return {
    url,
    secureUrl: `${url}/secure`,
    tokenUrl: `${url}/token`,
    payformUrl: `${url}/payform`,
    adminUrl: `${url}/admin`,
    token: config.endpoints[0]?.token.reveal() ?? '',
    tokens: Object.fromEntries(config.endpoints.map(({ name, token }) => [name, token.reveal()])),
    callbackKey: config.callbackKey.reveal(),
    faults,
    incidents,
    start() {
      for (const incident of config.incidents) incidents.start(incident);
      traffic.setRate(config.ratePerSecond);
    },
    async stop() {
      agenda.close();
      await Promise.all([sender.close(), watchSender.close()]);
      await app.close();
    },
    setRate: traffic.setRate,
    stats: statsNow,
    orders: () => [...orders.values()].map((order) => truthOf(order, now())),
    createWithdrawal: (request = {}) => made(withdrawals.create(request)),
    seedOrder: (order) => made(seeded.create(order)),
    appendItem(externalId, item) {
      seeded.append(find(externalId), item);
      return truthOf(find(externalId), now());
    },
    setStatus(externalId, change) {
      seeded.setStatus(find(externalId), change);
      return truthOf(find(externalId), now());
    },
    sendCallback(externalId, how = {}) {
      if (!callbacks.sendNow(find(externalId), how)) throw new RangeError('there is no callback address');
    },
  };
}

const SWEEP_MS = 10_000;

function visibleItems(orders: Iterable<Order>, nowMs: number): number {
  let visible = 0;
  for (const order of orders) for (const item of order.items) if (item.visibleAtMs <= nowMs) visible++;
  return visible;
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host =
    address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
