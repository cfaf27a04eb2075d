import type { AddressInfo } from 'node:net';
import { createAgenda, type Agenda } from './agenda.ts';
import { createApp } from './app.ts';
import { createCallbacks, type CallbackOptions } from './callbacks.ts';
import { createContradictionBoard, type ContradictionBoard } from './contradictions.ts';
import { createDepositCreation } from './create-deposit.ts';
import { createFaultBoard, type FaultBoard } from './faults.ts';
import { createIncidentBoard, type IncidentBoard } from './incidents.ts';
import { createOrderDesk } from './open-order.ts';
import { resolveOptions, type SandboxConfig, type SandboxOptions } from './options.ts';
import { createOrderStore, lasts, type Order, type OrderStore } from './orders.ts';
import { registerAdminRoutes } from './routes/admin.ts';
import { registerGatewayRoutes, registerPages } from './routes/gateway.ts';
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
  /** Orders of which something is still to come, and those that whoever reads them sees end. */
  readonly ordersUnsettled: number;
  readonly ordersShownToEnd: number;
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
  readonly contradictions: ContradictionBoard;
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
  const parts = assemble(config);
  const { orders, callbacks, withdrawals, seeded, traffic, faults, incidents, contradictions } = parts;
  await parts.listen();
  const url = parts.url();
  const truth = (order: Order) => truthOf(order, config.clock.now());
  const find = (externalId: string): Order => {
    const order = orders.byExternalId('Deposit', externalId) ?? orders.byExternalId('Withdrawal', externalId);
    if (!order) throw new RangeError(`no order ${externalId}`);
    return order;
  };
  const made = (order: Order | 'exists' | 'full'): OrderTruth => {
    if (order === 'exists') throw new RangeError('an order with this id exists');
    if (order === 'full') throw new RangeError('no room');
    return truth(order);
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
    contradictions,
    start() {
      for (const incident of config.incidents) incidents.start(incident);
      traffic.setRate(config.ratePerSecond);
    },
    stop: parts.stop,
    setRate: traffic.setRate,
    stats: parts.stats,
    orders: () => [...orders.values()].map(truth),
    createWithdrawal: (request = {}) => made(withdrawals.create(request)),
    seedOrder: (order) => made(seeded.create(order)),
    appendItem(externalId, item) {
      seeded.append(find(externalId), item);
      return truth(find(externalId));
    },
    setStatus(externalId, change) {
      seeded.setStatus(find(externalId), change);
      return truth(find(externalId));
    },
    sendCallback(externalId, how = {}) {
      if (!callbacks.sendNow(find(externalId), how)) throw new RangeError('there is no callback address');
    },
  };
}

/** Puts the parts together: who knows whom. Nothing listens yet. */
function assemble(config: SandboxConfig) {
  const { clock, seed } = config;
  const now = () => clock.now();
  const counters = createStats();
  const orders = createOrderStore(config.maxOrders);
  const vault = createVault(seed);
  const faults = createFaultBoard(seed, now);
  const incidents = createIncidentBoard(now);
  const contradictions = createContradictionBoard(seed);
  const agenda = createAgenda(clock, (error) => config.log(`internal error: ${String(error)}`));
  const { sender, watchSender } = createSenders(config, counters);
  const callbacks = createCallbacks({ config, agenda, faults, sender, stats: counters });
  const boards = { faults, incidents, contradictions };
  const desk = createOrderDesk({ config, orders, vault, ...boards, callbacks, watchSender, stats: counters });
  let url = '';
  const createDeposit = createDepositCreation({ seed, desk, orders, vault, now, baseUrl: () => url });
  const withdrawals = createWithdrawals({ seed, desk, orders });
  const seeded = createSeededOrders({ seed, now, desk, orders });
  const traffic = createTraffic({ config, agenda, incidents, vault, createDeposit, withdrawals });
  const sweeper = createSweeper({ config, orders, agenda, counters });
  const stats = (): SandboxStatsNow => ({
    ...structuredClone(counters),
    ordersInMemory: orders.size,
    ordersUnsettled: countOf(orders.values(), ({ settledAtMs }) => settledAtMs > now()),
    ordersShownToEnd: countOf(orders.values(), isShownToEnd),
    itemsVisible: sweeper.droppedItems() + visibleItems(orders.values(), now()),
    callbacksPending: sender.pending,
    ratePerSecond: traffic.ratePerSecond,
  });
  const app = createApp(config);
  registerGatewayRoutes(app, { config, orders, faults, stats: counters, createDeposit });
  registerPages(app, orders, now);
  const switches = { config, orders, ...boards, callbacks, traffic, withdrawals, seeded, stats };
  registerAdminRoutes(app, switches);
  return {
    ...switches,
    url: () => url,
    async listen() {
      await app.listen({ host: config.host, port: config.port });
      url = urlOf(app.server.address() as AddressInfo);
      sweeper.sweep();
    },
    async stop() {
      agenda.close();
      await Promise.all([sender.close(), watchSender.close()]);
      await app.close();
    },
  };
}

/** Two queues, so that watch messages do not wait for callbacks. */
function createSenders(config: SandboxConfig, stats: SandboxStats) {
  const { clock, callbackTimeoutMs: timeoutMs, maxQueued, retryDelaysMs } = config;
  const how = { clock, timeoutMs, maxQueued, retryDelaysMs };
  return {
    sender: createSender({ ...how, on: (event) => stats.callbacks[event]++ }),
    watchSender: createSender({
      ...how,
      on: (event) => {
        if (event === 'acknowledged') stats.watch.acknowledged++;
        if (event === 'failed' || event === 'dropped') stats.watch.failed++;
      },
    }),
  };
}

/** Drops old orders again and again, and counts the history items that went with them. */
function createSweeper(parts: {
  config: SandboxConfig;
  orders: OrderStore;
  agenda: Agenda;
  counters: SandboxStats;
}) {
  const { config, orders, agenda, counters } = parts;
  let droppedItems = 0;
  const sweep = (): void => {
    const nowMs = config.clock.now();
    const dropped = orders.drop(nowMs, config.retentionMs);
    counters.orders.dropped += dropped.length;
    droppedItems += visibleItems(dropped, nowMs);
    agenda.at(nowMs + SWEEP_MS, sweep);
  };
  return { sweep, droppedItems: () => droppedItems };
}

const SWEEP_MS = 10_000;

function visibleItems(orders: Iterable<Order>, nowMs: number): number {
  let visible = 0;
  for (const order of orders) for (const item of order.items) if (item.visibleAtMs <= nowMs) visible++;
  return visible;
}

function countOf(orders: Iterable<Order>, fits: (order: Order) => boolean): number {
  let count = 0;
  for (const order of orders) if (fits(order)) count++;
  return count;
}

/** Do status replies come to a final status? */
const isShownToEnd = (order: Order): boolean =>
  order.statuses.some(({ status }) => status === 'Success' || status === 'Failed') &&
  !lasts(order, 'status_stale') &&
  !lasts(order, 'http_404');

function urlOf({ address, family, port }: AddressInfo): string {
  const host =
    address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
