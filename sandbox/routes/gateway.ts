import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OrderType } from '../../schemas/dictionary.ts';
import { credentialOf } from '../auth.ts';
import { errorReply, type CreateBase, type CreateDeposit, type GatewayReply } from '../create-deposit.ts';
import { FAULTS, type FaultBoard, type FaultName, type FaultTarget } from '../faults.ts';
import type { MerchantEndpoint, SandboxConfig } from '../options.ts';
import type { Order, OrderStore } from '../orders.ts';
import { statusOf } from '../life.ts';
import { createRandom, type Random } from '../random.ts';
import { historyAt, statusAt, statusReply } from '../reply.ts';
import { count, type SandboxStats } from '../stats.ts';
import { answer, bendReply, isProcessed } from './answer.ts';

/** The version is part of every path (section 9). */
export const PREFIX = '/api/v1/integration';
const BASES: readonly CreateBase[] = ['secure', 'token', 'payform'];

type Find = (orders: OrderStore, id: string) => Order | undefined;
const byExternalId =
  (type: OrderType): Find =>
  (orders, id) =>
    orders.byExternalId(type, id);
const byTransactionId =
  (type: OrderType): Find =>
  (orders, id) =>
    orders.byTransactionId(type, id);

/** Sections 4.3, 4.4 and 4.5. The last two are given without host and prefix: those of 4.3 are assumed. */
const STATUS_PATHS: readonly (readonly [path: string, orderType: OrderType, find: Find])[] = [
  ['/deposit-order/:id/status', 'Deposit', byExternalId('Deposit')],
  ['/deposit-order/:id/status-by-external-transaction-id', 'Deposit', byTransactionId('Deposit')],
  ['/withdrawal-order/:id/status', 'Withdrawal', byExternalId('Withdrawal')],
  ['/withdrawal-order/:id/status-by-external-transaction-id', 'Withdrawal', byTransactionId('Withdrawal')],
];

/** The interface's endpoints (sections 4.1-4.5), below each of the three addresses. */
export function registerGatewayRoutes(
  app: FastifyInstance,
  parts: {
    config: SandboxConfig;
    orders: OrderStore;
    faults: FaultBoard;
    stats: SandboxStats;
    createDeposit: CreateDeposit;
  },
): void {
  const { config, orders, faults, stats } = parts;
  const random = createRandom(config.seed, 'answers');
  const now = () => config.clock.now();

  const handle = async (
    request: FastifyRequest,
    reply: FastifyReply,
    target: FaultTarget & { endpoint: 'create' | 'status' },
    work: (endpoint: MerchantEndpoint) => GatewayReply,
    order?: Order,
  ) => {
    const fault = faults.draw('request', target);
    if (fault) count(stats.faults, fault.name);
    const skipped = fault && target.endpoint === 'create' && !isProcessed(fault);
    const { endpoint, error } = credentialOf(request, config.endpoints);
    const result =
      endpoint === null ? errorReply(error) : skipped ? errorReply('INTERNAL_ERROR') : work(endpoint);
    const bent = order === undefined ? result : contradict(order, result, random);
    const given = await answer(request, reply, bent, fault, random);
    // What a fault cut off or held back may not have been heard.
    if (order !== undefined && fault === undefined && result.status === 200) noteReply(order, now());
    count(target.endpoint === 'create' ? stats.createRequests : stats.statusRequests, given);
    return reply;
  };

  for (const base of BASES) {
    app.post(`/${base}${PREFIX}/deposit-order`, (request, reply) =>
      handle(request, reply, { endpoint: 'create', orderType: 'Deposit' }, (endpoint) =>
        parts.createDeposit(endpoint, base, request.body),
      ),
    );
    for (const [path, orderType, find] of STATUS_PATHS) {
      app.get<{ Params: { id: string } }>(`/${base}${PREFIX}${path}`, (request, reply) => {
        const order = find(orders, request.params.id);
        return handle(
          request,
          reply,
          { endpoint: 'status', orderType, ...traits(order, now()) },
          (endpoint) => {
            if (!endpoint.status) return errorReply('FORBIDDEN_ENDPOINT');
            return order ? { status: 200, body: statusReply(order, now()) } : errorReply('NOT_FOUND');
          },
          order,
        );
      });
    }
  }
}

/** A history has lost an item for those who were shown it: the second one. */
const LOST_FROM = 2;

/** A status reply, bent by the faults that last for this order. */
function contradict(order: Order, result: GatewayReply, random: Random): GatewayReply {
  let bent = result;
  for (const name of order.contradiction?.faults ?? []) {
    if (FAULTS[name].kind !== 'request') continue;
    if (name === 'history_item_lost' && order.itemsShown < LOST_FROM) continue;
    bent = bendReply(bent, { name }, random);
  }
  return bent;
}

/** Notes what an undisturbed reply has done: whether it contradicts depends on what is visible by now. */
function noteReply(order: Order, atMs: number): void {
  const items = historyAt(order, atMs);
  const visible: Partial<Record<FaultName, boolean>> = {
    http_404: true,
    status_stale: items.some(({ action }) => statusOf(action) !== undefined),
    callback_unrecorded: items.some(({ action }) => action.startsWith('6.')),
    history_item_lost: order.itemsShown >= LOST_FROM,
  };
  for (const fault of order.contradiction?.faults ?? [])
    if (visible[fault] === true) order.deeds.push({ fault, on: 'reply', atMs });
  order.itemsShown = Math.max(order.itemsShown, items.length);
}

/** What a fault's scope can ask of an order: its channel, and the stage of its latest visible item. */
function traits(order: Order | undefined, nowMs: number): FaultTarget {
  if (!order) return {};
  const latest = order.items.findLast((item) => item.visibleAtMs <= nowMs);
  return { channel: order.channel, ...(latest ? { stage: Number(latest.action[0]) } : {}) };
}

/**
 * What the links in create replies lead to. The payer's steps are part of the seeded history: nothing to fill
 * in.
 */
export function registerPages(app: FastifyInstance, orders: OrderStore, now: () => number): void {
  for (const [path, title] of PAGES) {
    app.get<{ Params: { id: string } }>(`/${path}/:id`, (request, reply) => {
      const order = orders.byExternalId('Deposit', request.params.id);
      const { status, body } = errorReply('NOT_FOUND');
      if (!order) return reply.code(status).send(body);
      return reply
        .type('text/html; charset=utf-8')
        .send(page(title, order.externalId, statusAt(order, now())));
    });
  }
}

const PAGES = [
  ['form', 'Payment form'],
  ['3ds', '3-D Secure'],
] as const;

const safe = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function page(title: string, id: string, status: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<h1>${title}</h1>
<p>Order ${safe(id)} is ${safe(status)}.</p>
<p>This is a sandbox: the payer's visit is already part of the order's history.</p>
</html>
`;
}
