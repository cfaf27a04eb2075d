import type { OrderType } from '../schemas/dictionary.ts';
import type { CallbackType } from '../schemas/gateway/callback.ts';
import type { Callbacks } from './callbacks.ts';
import { rareMove, type Contradiction, type ContradictionBoard } from './contradictions.ts';
import type { FaultBoard, FaultName } from './faults.ts';
import type { IncidentBoard } from './incidents.ts';
import { planLife, type Conditions, type Life } from './life.ts';
import type { SandboxConfig } from './options.ts';
import { dateLife, lasts, type Order, type OrderStore } from './orders.ts';
import type { Payer } from './payers.ts';
import { createRandom } from './random.ts';
import type { Channel } from './scenarios.ts';
import type { Sender } from './sender.ts';
import { otherCurrency } from './reply.ts';
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

interface DeskParts {
  readonly config: SandboxConfig;
  readonly orders: OrderStore;
  readonly vault: Vault;
  readonly faults: FaultBoard;
  readonly incidents: IncidentBoard;
  readonly contradictions: ContradictionBoard;
  readonly callbacks: Callbacks;
  readonly watchSender: Sender;
  readonly stats: SandboxStats;
}

export function createOrderDesk(parts: DeskParts): OrderDesk {
  const { config, orders, stats } = parts;
  let sequence = 0;
  return {
    get nextSequence() {
      return sequence;
    },
    open(request) {
      const nowMs = Math.floor(config.clock.now());
      if (!orders.makeRoom(nowMs)) return null;
      const number = sequence++;
      const { life, contradiction } = drawLife(request, number, parts);
      const order = composeOrder(request, life, { sequence: number, nowMs, contradiction }, parts);
      count(stats.orders.byOutcome, life.outcome);
      keep(order, parts);
      const due = life.callbacks.map(({ type, atUs }) => ({
        type,
        atMs: nowMs + atUs / 1000 / config.speed,
      }));
      parts.callbacks.plan(order, due);
      return order;
    },
    adopt(order) {
      const kept = { ...order, sequence: sequence++ };
      keep(kept, parts);
      return kept;
    },
  };
}

/** An order whose life is dated from now. One that is paid with a card may get a token in the vault. */
function composeOrder(
  request: NewOrder,
  life: Life,
  {
    sequence,
    nowMs,
    contradiction,
  }: { readonly sequence: number; readonly nowMs: number; readonly contradiction: Contradiction | null },
  { config, vault }: DeskParts,
): Order {
  const { orderType, channel, currency, amountMinor, payer } = request;
  const random = createRandom(config.seed, 'order', sequence);
  const externalId = random.uuid();
  const dated = dateLife(life, { createdAtMs: nowMs, speed: config.speed, amountMinor });
  const byCard = channel === 'acquiring' || channel === 'card' || channel === 'token';
  const storageToken = byCard
    ? (request.storageToken ?? vault.tokenFor(payer, `cst_${random.hex(32)}`))
    : null;
  const paidAt = dated.statuses.find(({ status }) => status === 'Success')?.atMs;
  if (storageToken !== null && paidAt !== undefined) vault.issue(storageToken, payer, paidAt);
  return {
    sequence,
    externalId,
    externalTransactionId: request.externalTransactionId,
    orderType,
    channel,
    currency,
    createdAtMs: nowMs,
    scenario: life.scenario,
    timeDigits: request.timeDigits,
    callbackUrl: request.callbackUrl,
    callbackTypes: request.callbackTypes,
    card: {
      holder: payer.cardHolder,
      mask: payer.cardMask,
      bankToken: byCard && random.chance(0.5) ? `bct_${random.hex(24)}` : null,
      storageToken,
    },
    contradiction,
    deeds: [],
    itemsShown: 0,
    ...dated,
  };
}

/** How the order is to live, and what of that contradicts. */
function drawLife(
  request: NewOrder,
  sequence: number,
  parts: DeskParts,
): { life: Life; contradiction: Contradiction | null } {
  const { seed } = parts.config;
  const conditions = drawConditions(parts, request, sequence);
  const life = planLife(seed, sequence, request.channel, conditions);
  const contradiction = parts.contradictions.draw(sequence, life);
  if (contradiction === null) return { life, contradiction };
  const changed = { ...conditions, ...historyConditions(contradiction) };
  return { life: planLife(seed, sequence, request.channel, changed), contradiction };
}

const historyConditions = ({ faults, number }: Contradiction): Partial<Conditions> => ({
  ...(faults.includes('failed_before_success') ? { failsFirst: true } : {}),
  ...(faults.includes('never_decided') ? { neverEnds: true } : {}),
  ...(faults.includes('new_move') ? { newMove: rareMove(number) } : {}),
});

const OF_HISTORY: readonly FaultName[] = ['failed_before_success', 'never_decided', 'new_move'];

/** Keeps the order, and names it to the merchant's watch address. */
function keep(order: Order, { config, orders, stats, faults, watchSender }: DeskParts): void {
  orders.add(order);
  const atMs = order.createdAtMs;
  for (const fault of OF_HISTORY) if (lasts(order, fault)) order.deeds.push({ fault, on: 'history', atMs });
  stats.orders.created++;
  count(stats.orders.byChannel, order.channel);
  if (config.watchUrl === null) return;
  const { orderType, externalId, channel } = order;
  const struck = faults.drawAll('watch', { orderType, channel }).map(({ name }) => name);
  for (const name of struck) count(stats.faults, name);
  const isStruck = (fault: FaultName): boolean => {
    if (lasts(order, fault)) order.deeds.push({ fault, on: 'watch', atMs });
    return lasts(order, fault) || struck.includes(fault);
  };
  if (isStruck('watch_missing')) return;
  const currency = isStruck('watch_other_currency') ? otherCurrency(order) : order.currency;
  const more = isStruck('watch_other_amount') ? 1 : 0;
  const amount = ((order.amounts[0]?.minor ?? 0) / 100 + more).toFixed(2);
  const message = { gateway: config.gatewayName, orderType, externalId, channel, amount, currency };
  stats.watch.queued++;
  watchSender.send({ url: config.watchUrl, headers: {}, body: JSON.stringify(message) });
}

/** What the boards hold for this order: incidents, and faults that write into its history. */
function drawConditions(
  parts: Pick<DeskParts, 'config' | 'faults' | 'incidents' | 'stats'>,
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
  return {
    incidents: parts.incidents.list(),
    lateShare: late ? 1 : parts.config.lateShare,
    foreignCodes,
    failsFirst: struck.some(({ name }) => name === 'failed_before_success'),
    neverEnds: struck.some(({ name }) => name === 'never_decided'),
    ...(struck.some(({ name }) => name === 'new_move') ? { newMove: rareMove(sequence) } : {}),
  };
}
