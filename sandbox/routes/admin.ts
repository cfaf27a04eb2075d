import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressOf, isLoopback } from '../auth.ts';
import type { CallbackOptions, Callbacks } from '../callbacks.ts';
import type { ContradictionBoard, ContradictionRequest } from '../contradictions.ts';
import type { FaultBoard, FaultRequest } from '../faults.ts';
import type { IncidentBoard, IncidentRequest } from '../incidents.ts';
import type { SandboxConfig } from '../options.ts';
import type { Order, OrderStore } from '../orders.ts';
import type { SeededItem, SeededOrder, SeededOrders } from '../seeded-orders.ts';
import { truthOf, type OrderTruth } from '../truth.ts';
import type { Traffic } from '../traffic.ts';
import type { WithdrawalRequest, Withdrawals } from '../withdrawals.ts';
import { ADMIN_GUIDE } from './admin-guide.ts';
import { ADMIN_SCHEMAS } from './admin-schemas.ts';

/** What the admin API switches and shows. */
export interface AdminParts {
  readonly config: SandboxConfig;
  readonly orders: OrderStore;
  readonly faults: FaultBoard;
  readonly incidents: IncidentBoard;
  readonly contradictions: ContradictionBoard;
  readonly callbacks: Callbacks;
  readonly traffic: Traffic;
  readonly withdrawals: Withdrawals;
  readonly seeded: SeededOrders;
  readonly stats: () => object;
}

/** The admin API: see ADMIN_GUIDE. */
export function registerAdminRoutes(app: FastifyInstance, parts: AdminParts): void {
  void app.register(
    async (admin) => {
      if (!parts.config.adminRemote) admin.addHook('onRequest', refuseStrangers);
      admin.get('/', () => ADMIN_GUIDE);
      registerSwitches(admin, parts);
      registerOrders(admin, parts);
      registerOrder(admin, parts);
    },
    { prefix: '/admin' },
  );
}

/** Browsers reach loopback too: a page of another site may have a name that resolves here. */
async function refuseStrangers(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const local = isLoopback(addressOf(request)) && LOCAL_HOST.test(request.headers.host ?? '');
  if (local && request.headers.origin === undefined) return;
  await refuse(reply, 403, 'the admin API is served to loopback only; see --admin-remote');
}

/** What all orders are subject to: rate, faults, incidents, contradictions. */
function registerSwitches(admin: FastifyInstance, parts: AdminParts): void {
  const { faults, incidents, contradictions, traffic } = parts;
  admin.get('/stats', () => parts.stats());
  admin.post<{ Body: { ratePerSecond: number } }>(
    '/rate',
    { schema: { body: ADMIN_SCHEMAS.rate } },
    (request) => {
      traffic.setRate(request.body.ratePerSecond);
      return { ratePerSecond: traffic.ratePerSecond };
    },
  );
  admin.get('/faults', () => ({ faults: faults.list() }));
  admin.post<{ Body: FaultRequest }>('/faults', { schema: { body: ADMIN_SCHEMAS.fault } }, (request, reply) =>
    reply.code(201).send(faults.add(request.body)),
  );
  admin.delete<{ Params: { id: string } }>('/faults/:id', (request, reply) =>
    faults.remove(request.params.id) ? reply.code(204).send() : refuse(reply, 404, 'no such fault'),
  );
  admin.get('/incidents', () => ({ incidents: incidents.list() }));
  admin.post<{ Body: IncidentRequest }>(
    '/incidents',
    { schema: { body: ADMIN_SCHEMAS.incident } },
    (request, reply) => reply.code(201).send(incidents.start(request.body)),
  );
  admin.delete<{ Params: { id: string } }>('/incidents/:id', (request, reply) =>
    incidents.end(request.params.id) ? reply.code(204).send() : refuse(reply, 404, 'no such incident'),
  );
  admin.get('/contradictions', () => ({ contradictions: contradictions.list() }));
  admin.post<{ Body: ContradictionRequest }>(
    '/contradictions',
    { schema: { body: ADMIN_SCHEMAS.contradiction } },
    (request, reply) => reply.code(201).send(contradictions.start(request.body)),
  );
  admin.delete<{ Params: { id: string } }>('/contradictions/:id', (request, reply) =>
    contradictions.end(request.params.id)
      ? reply.code(204).send()
      : refuse(reply, 404, 'no such contradiction'),
  );
}

/** Makes orders and lists them. */
function registerOrders(admin: FastifyInstance, { config, orders, seeded, withdrawals }: AdminParts): void {
  const settle = (reply: FastifyReply, made: Order | 'exists' | 'full') => {
    if (made === 'exists') return refuse(reply, 409, 'an order with this id exists');
    if (made === 'full') return refuse(reply, 503, 'no room: all orders in memory are unfinished');
    return reply.code(201).send(truthOf(made, config.clock.now()));
  };
  admin.post<{ Body: WithdrawalRequest }>(
    '/withdrawals',
    { schema: { body: ADMIN_SCHEMAS.withdrawal } },
    (request, reply) => settle(reply, withdrawals.create(request.body)),
  );
  admin.post<{ Body: SeededOrder }>('/orders', { schema: { body: ADMIN_SCHEMAS.order } }, (request, reply) =>
    settle(reply, seeded.create(request.body)),
  );
  admin.get<{ Querystring: { since?: string; limit?: string } }>('/orders', (request, reply) => {
    const page = listOrders(orders, config.clock.now(), request.query);
    return page ?? refuse(reply, 400, 'since is a sequence number or an ISO time, limit 1 to 10000');
  });
}

/** Shows one order and changes it. */
function registerOrder(admin: FastifyInstance, { config, orders, seeded, callbacks }: AdminParts): void {
  const truth = (order: Order) => truthOf(order, config.clock.now());
  const withOrder = (reply: FastifyReply, id: string, work: (order: Order) => unknown) => {
    const order = orders.byExternalId('Deposit', id) ?? orders.byExternalId('Withdrawal', id);
    return order ? work(order) : refuse(reply, 404, 'no order has this externalId');
  };
  admin.get<{ Params: { id: string } }>('/orders/:id', (request, reply) =>
    withOrder(reply, request.params.id, truth),
  );
  admin.post<{ Params: { id: string }; Body: SeededItem }>(
    '/orders/:id/items',
    { schema: { body: ADMIN_SCHEMAS.item } },
    (request, reply) =>
      withOrder(reply, request.params.id, (order) => {
        seeded.append(order, request.body);
        return truth(order);
      }),
  );
  admin.put<{ Params: { id: string }; Body: { status?: string; amount?: number } }>(
    '/orders/:id/status',
    { schema: { body: ADMIN_SCHEMAS.status } },
    (request, reply) =>
      withOrder(reply, request.params.id, (order) => {
        seeded.setStatus(order, request.body);
        return truth(order);
      }),
  );
  admin.post<{ Params: { id: string }; Body: CallbackOptions }>(
    '/orders/:id/callbacks',
    { schema: { body: ADMIN_SCHEMAS.callback } },
    (request, reply) =>
      withOrder(reply, request.params.id, (order) => {
        if (callbacks.sendNow(order, request.body))
          return reply.code(202).send({ queued: request.body.times ?? 1 });
        const problem = 'there is no callback address: neither static, nor of the order, nor given here';
        return refuse(reply, 409, problem);
      }),
  );
}

const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ code: 'ADMIN', message });
}

/** One page of truths in creation order. Undefined: the query makes no sense. */
function listOrders(
  orders: OrderStore,
  nowMs: number,
  query: { since?: string; limit?: string },
): { orders: OrderTruth[]; next: number | null } | undefined {
  const limit = Number(query.limit ?? 1000);
  const since = query.since ?? '-1';
  const after = /^-?\d+$/.test(since) ? Number(since) : undefined;
  const fromMs = after === undefined ? Date.parse(since) : undefined;
  if (!(limit >= 1 && limit <= 10_000) || Number.isNaN(fromMs)) return undefined;
  const page: OrderTruth[] = [];
  for (const order of orders.values()) {
    if (after === undefined ? order.createdAtMs < (fromMs ?? 0) : order.sequence <= after) continue;
    if (page.length === limit) return { orders: page, next: page.at(-1)?.sequence ?? null };
    page.push(truthOf(order, nowMs));
  }
  return { orders: page, next: null };
}
