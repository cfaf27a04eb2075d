import type {
  CascadeAnswer,
  CascadeQuery,
  CascadeResult,
  OrderRecord,
} from '../../schemas/cascade-safety.ts';
import type { Clock } from '../../schemas/clock.ts';
import type { GatewayConfig } from '../../schemas/config.ts';
import { isCardLikeId } from '../../schemas/card-search.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import type { OrderQuery } from '../../schemas/order-timeline.ts';
import { watchKey, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import type { StatusFacts } from '../decode/cascade-safety.ts';
import { isMasked } from '../decode/grammar.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import { safetyAnswer, type Inquiry, type NamedOrder } from './cascade-answer.ts';
import { askOrder, findTracked, otherIds } from './cascade-ids.ts';
import type { AskStatus } from './poller-contract.ts';

export interface CascadeSafetyOptions {
  readonly gateways: ReadonlyMap<string, GatewayConfig>;
  /** An answer takes this long at most. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly ask: AskStatus;
  /** An order as it is read at present, by its watch key. */
  readonly tracked: (key: string) => WatchedOrder | undefined;
  /** What is stored of an order; null: nothing. Rejects when the store does not answer. */
  readonly lookUp: (query: OrderQuery) => Promise<OrderRecord | null>;
  /** The reply to a question was news about a watched order: it should be read. */
  readonly onNews: (order: WatchRef) => void;
  readonly instruments: Pick<Instruments, 'cascadeChecks' | 'cascadeCheckDuration'>;
}

/**
 * Answers whether an order may be sent to another provider (interface document, section 1), by reading its
 * status now. Never rejects for what gateway or store do: what cannot be known is `unknown`.
 */
export type CascadeSafety = (query: CascadeQuery) => Promise<CascadeResult>;

/** Questions about one order within this time share one read. */
const SHARED_MS = 1_000;

export function createCascadeSafety(options: CascadeSafetyOptions): CascadeSafety {
  const { clock, instruments, deadlineMs } = options;
  const shared = new Map<string, Promise<CascadeResult>>();

  function sharedAnswer(query: CascadeQuery): Promise<CascadeResult> {
    const { id, gateway, type, by } = query;
    const key = JSON.stringify([id, gateway, type, by]);
    const present = shared.get(key);
    if (present !== undefined) return present;
    const made = answer(query, options);
    shared.set(key, made);
    clock.after(SHARED_MS, () => shared.delete(key));
    return made;
  }

  return async (query) => {
    const startMs = clock.monotonicMs();
    const shorterMs = query.deadline_ms ?? deadlineMs;
    const result = await within(sharedAnswer(query), shorterMs < deadlineMs ? shorterMs : null, clock);
    const given = result ?? { ok: true, answer: lateAnswer(query, options) };
    if (given.ok) {
      const { order, verdict, rule } = given.answer;
      instruments.cascadeChecks.add(1, { gateway: order.gateway, verdict, rule });
      const tookS = (clock.monotonicMs() - startMs) / 1000;
      instruments.cascadeCheckDuration.record(tookS, { gateway: order.gateway });
    }
    return given;
  };
}

async function answer(query: CascadeQuery, options: CascadeSafetyOptions): Promise<CascadeResult> {
  const { gateways, clock } = options;
  const refusal = refusalOf(query, gateways);
  if (refusal !== null) return { ok: false, conflict: false, detail: refusal };
  const endMs = clock.monotonicMs() + options.deadlineMs;
  const leftMs = () => Math.max(1, endMs - clock.monotonicMs());
  const tracked = findTracked(query, [...gateways.keys()], options.tracked);
  const wanted = narrowed(query, tracked);
  const looking = lookUp(wanted, leftMs(), options);
  const stored = tracked === null && !isComplete(query) ? await looking : null;
  const order = meantBy(query, tracked, stored?.record ?? null, gateways);
  if (order === null)
    return { ok: false, conflict: false, detail: 'gateway: expected a name, as several are configured' };

  const config = gateways.get(order.gateway) as GatewayConfig;
  const inquiry: Inquiry = { order, tracked, requests: new Map(), stored: null };
  const ask = (one: NamedOrder): Promise<void>[] =>
    otherIds(one, inquiry.requests).map((ref) => askOrder(ref, inquiry, { ...options, config, leftMs }));
  const asking = ask(order);
  inquiry.stored = await looking;
  const known = inquiry.stored?.record ?? null;
  if (known?.isAmbiguous === true && !isComplete(query))
    return { ok: false, conflict: true, detail: AMBIGUOUS };
  asking.push(...ask(withIds(order, known)));
  await Promise.all(asking);
  // A reply may name the other id: before it is called safe, gateway and store are asked by that as well.
  const facts = [...inquiry.requests.values()].flatMap((one) => one.facts ?? []);
  const named = new Set(facts.map(({ externalId }) => externalId));
  if (wanted.by !== 'transaction-id') named.delete(canonicalId(query.id));
  if (facts.every(({ orderStatus }) => orderStatus === 'Failed'))
    await Promise.all([
      ...facts.flatMap((one) => ask(withIds(order, one))),
      ...[...named].map((externalId) => lookUpNamed(externalId, inquiry, leftMs(), options)),
    ]);
  passOnNews(inquiry, options);
  return { ok: true, answer: safetyAnswer(inquiry, clock.now()) };
}

const AMBIGUOUS =
  'The id fits several orders: say which with gateway, type (Deposit or Withdrawal) and by (external-id or transaction-id).';

/** What is wrong with the question; null: nothing. */
function refusalOf({ id, gateway }: CascadeQuery, gateways: CascadeSafetyOptions['gateways']): string | null {
  if (gateway !== undefined && !gateways.has(gateway))
    return `gateway: expected one of ${[...gateways.keys()].join(', ')}, received another name`;
  const keeps = [...gateways.values()].some(
    ({ name, cardLikeIds }) => cardLikeIds === 'keep' && (gateway ?? name) === name,
  );
  if (keeps || !isCardLikeId(id)) return null;
  return 'id: expected an id that does not look like a card number (or cardLikeIds: keep), received digits like a card number';
}

const isComplete = ({ gateway, type, by }: CascadeQuery): boolean =>
  gateway !== undefined && type !== undefined && by !== undefined;

function narrowed({ id, gateway, type, by }: CascadeQuery, tracked: WatchedOrder | null): OrderQuery {
  const found = {
    gateway: gateway ?? tracked?.gateway,
    type: type ?? tracked?.orderType,
    by: by ?? tracked?.idKind,
  };
  const said = Object.entries(found).filter(([, value]) => value !== undefined);
  return { id, ...Object.fromEntries(said) };
}

/** The order that is meant, with the ids that are known; null: nobody says at which gateway. */
function meantBy(
  query: CascadeQuery,
  tracked: WatchedOrder | null,
  stored: OrderRecord | null,
  gateways: CascadeSafetyOptions['gateways'],
): NamedOrder | null {
  const only = gateways.size === 1 ? [...gateways.keys()][0] : undefined;
  const gateway = query.gateway ?? tracked?.gateway ?? stored?.gateway ?? only;
  if (gateway === undefined || !gateways.has(gateway)) return null;
  const isMerchants =
    stored?.externalId !== canonicalId(query.id) && stored?.externalTransactionId === query.id;
  const by = query.by ?? tracked?.idKind ?? (isMerchants ? 'transaction-id' : 'external-id');
  const order: NamedOrder = {
    gateway,
    orderType: query.type ?? tracked?.orderType ?? stored?.orderType ?? 'Deposit',
    externalId: by === 'external-id' ? canonicalId(query.id) : '',
    externalTransactionId: by === 'transaction-id' ? query.id : '',
  };
  return withIds(withIds(order, tracked), stored);
}

type Ids = { readonly externalId: string | null; readonly externalTransactionId: string | null };

/** The order with the ids that it lacks. A fingerprint kept instead of an id is none to ask by. */
function withIds(order: NamedOrder, ids: Ids | null | undefined): NamedOrder {
  const usable = (id: string | null | undefined): string => (isMasked(id ?? '') ? '' : (id ?? ''));
  return {
    ...order,
    externalId: order.externalId || usable(ids?.externalId),
    externalTransactionId: order.externalTransactionId || usable(ids?.externalTransactionId),
  };
}

/** null: the store did not answer in time. */
async function lookUp(
  query: OrderQuery,
  limitMs: number,
  options: CascadeSafetyOptions,
): Promise<Inquiry['stored']> {
  const looking = options.lookUp(query).then(
    (record) => ({ record }),
    () => null,
  );
  return within(looking, limitMs, options.clock);
}

/** What is known is known under the gateway's own id, which the order may get from the reply only. */
async function lookUpNamed(
  externalId: string,
  inquiry: Inquiry,
  limitMs: number,
  options: CascadeSafetyOptions,
): Promise<void> {
  const { gateway, orderType } = inquiry.order;
  const ref = { gateway, orderType, idKind: 'external-id', orderId: externalId } as const;
  inquiry.tracked ??= options.tracked(watchKey(ref)) ?? null;
  // A store that did not answer is not asked again, nor one that has found the order.
  if (inquiry.stored === null || (inquiry.stored.record?.externalId ?? '') !== '') return;
  const query: OrderQuery = { id: externalId, gateway, type: orderType, by: 'external-id' };
  const before = inquiry.stored.record;
  const found = await lookUp(query, limitMs, options);
  inquiry.stored = found === null ? null : { record: found.record ?? before };
}

/** null: it took longer; without a limit it may. */
function within<T>(work: Promise<T>, limitMs: number | null, clock: Clock): Promise<T | null> {
  if (limitMs === null) return work;
  const { promise, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(limitMs, () => resolve(null));
  return Promise.race([work, promise]).finally(cancel);
}

/** Whoever gave less time than the reads took. */
function lateAnswer(query: CascadeQuery, options: CascadeSafetyOptions): CascadeAnswer {
  const { gateways } = options;
  const order = meantBy(query, findTracked(query, [...gateways.keys()], options.tracked), null, gateways);
  const unnamed = { gateway: '', orderType: 'Deposit', externalId: '', externalTransactionId: '' } as const;
  const inquiry = { order: order ?? unnamed, tracked: null, requests: new Map(), stored: null };
  return safetyAnswer({ ...inquiry, isLate: true }, options.clock.now());
}

/** A reply with news of a watched order has the order read as usual, so that they are stored. */
function passOnNews({ order, tracked, requests, stored }: Inquiry, { onNews }: CascadeSafetyOptions): void {
  const record = stored?.record ?? null;
  if (tracked === null && (record === null || record.phase === null)) return;
  const status = tracked?.lastStatus ?? record?.status ?? null;
  const isNews = ({ orderStatus, items }: StatusFacts): boolean =>
    orderStatus !== status || (record !== null && items > record.historyItems);
  const found = [...requests.values()].flatMap(({ facts }) => facts ?? []).find(isNews);
  if (found === undefined) return;
  const { gateway, orderType } = order;
  onNews(tracked ?? { gateway, orderType, idKind: 'external-id', orderId: found.externalId });
}
