import type { OrderType } from '../schemas/dictionary.ts';
import type { CallbackType } from '../schemas/gateway/callback.ts';
import type { Callbacks } from './callbacks.ts';
import type { FaultBoard } from './faults.ts';
import type { IncidentBoard } from './incidents.ts';
import { planLife, type Conditions } from './life.ts';
import type { SandboxConfig } from './options.ts';
import { dateLife, type Order, type OrderStore } from './orders.ts';
import type { Payer } from './payers.ts';
import { createRandom } from './random.ts';
import type { Channel } from './scenarios.ts';
import type { Sender } from './sender.ts';
import { count, type SandboxStats } from './stats.ts';
import type { Vault } from './vault.ts';

/** What is known of an order when it is opened; all else follows from the seed and its number. */
export interface NewOrder {
  readonly orderType: OrderType;
  readonly channel: Channel;
  readonly amountMinor: number;
  readonly currency: string;
  readonly externalTransactionId: string;
  readonly callbackUrl: string | null;
  readonly callbackTypes: readonly CallbackType[];
  readonly timeDigits: 3 | 6;
  readonly payer: Payer;
  /** The stored card it is paid with. */
  readonly storageToken?: string;
}

export interface OrderDesk {
  /** The number of the next order. */
  readonly nextSequence: number;
  /**
   * Opens an order and lets it live: history, callbacks, watch message, token. Null: no room (answered with
   * 423).
   */
  open(order: NewOrder): Order | null;
  /** Keeps an order that was put together by hand. */
  adopt(order: Omit<Order, 'sequence'>): Order;
}

export function createOrderDesk(parts: {
  config: SandboxConfig;
  orders: OrderStore;
  vault: Vault;
  faults: FaultBoard;
  incidents: IncidentBoard;
  callbacks: Callbacks;
  watchSender: Sender;
  stats: SandboxStats;
}): OrderDesk {
  const { config, orders, vault, stats } = parts;
  let sequence = 0;

  const keep = (order: Order) => {
    orders.add(order);
    stats.orders.created++;
    count(stats.orders.byChannel, order.channel);
    if (config.watchUrl === null) return order;
    const { orderType, externalId, channel, currency } = order;
    const amount = ((order.amounts[0]?.minor ?? 0) / 100).toFixed(2);
    const message = { gateway: config.gatewayName, orderType, externalId, channel, amount, currency };
    stats.watch.queued++;
    parts.watchSender.send({ url: config.watchUrl, headers: {}, body: JSON.stringify(message) });
    return order;
  };

  return {
    get nextSequence() {
      return sequence;
    },
    open(request) {
      const nowMs = Math.floor(config.clock.now());
      if (!orders.makeRoom(nowMs)) return null;
      const number = sequence++;
      const random = createRandom(config.seed, 'order', number);
      const externalId = random.uuid();
      const life = planLife(config.seed, number, request.channel, conditions(parts, request, number));
      const dated = dateLife(life, {
        createdAtMs: nowMs,
        speed: config.speed,
        amountMinor: request.amountMinor,
      });
      const byCard =
        request.channel === 'acquiring' || request.channel === 'card' || request.channel === 'token';
      const storageToken = byCard
        ? (request.storageToken ?? vault.tokenFor(request.payer, `cst_${random.hex(32)}`))
        : null;
      const paidAt = dated.statuses.find(({ status }) => status === 'Success')?.atMs;
      if (storageToken !== null && paidAt !== undefined) vault.issue(storageToken, request.payer, paidAt);
      const { cardHolder: holder, cardMask: mask } = request.payer;
      const order: Order = {
        sequence: number,
        externalId,
        externalTransactionId: request.externalTransactionId,
        orderType: request.orderType,
        channel: request.channel,
        currency: request.currency,
        createdAtMs: nowMs,
        scenario: life.scenario,
        timeDigits: request.timeDigits,
        callbackUrl: request.callbackUrl,
        callbackTypes: request.callbackTypes,
        card: {
          holder,
          mask,
          bankToken: byCard && random.chance(0.5) ? `bct_${random.hex(24)}` : null,
          storageToken,
        },
        ...dated,
      };
      count(stats.orders.byOutcome, life.outcome);
      keep(order);
      const due = life.callbacks.map(({ type, atUs }) => ({
        type,
        atMs: nowMs + atUs / 1000 / config.speed,
      }));
      parts.callbacks.plan(order, due);
      return order;
    },
    adopt: (order) => keep({ ...order, sequence: sequence++ }),
  };
}

/** What the boards hold for this order: incidents, and faults that write into its history. */
function conditions(
  parts: { config: SandboxConfig; faults: FaultBoard; incidents: IncidentBoard; stats: SandboxStats },
  request: NewOrder,
  sequence: number,
): Conditions {
  const struck = parts.faults.drawAll('history', { orderType: request.orderType, channel: request.channel });
  for (const fault of struck) count(parts.stats.faults, fault.name);
  const foreignCodes = struck.flatMap(({ name }) => {
    if (name === 'legacy_code') return ['10.2.31.4'];
    if (name !== 'unknown_code') return [];
    return [createRandom(parts.config.seed, 'unknown code', sequence).pick(['1.2.4.18', '7.0.0.00'])];
  });
  const late = struck.some(({ name }) => name === 'late_items');
  return { incidents: parts.incidents.list(), lateShare: late ? 1 : parts.config.lateShare, foreignCodes };
}
