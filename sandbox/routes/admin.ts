import type { FastifyInstance, FastifyReply } from 'fastify';
import { addressOf, isLoopback } from '../auth.ts';
import type { CallbackOptions, Callbacks } from '../callbacks.ts';
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

/** The admin API: see ADMIN_GUIDE. */
export function registerAdminRoutes(
  app: FastifyInstance,
  parts: {
    config: SandboxConfig;
    orders: OrderStore;
    faults: FaultBoard;
    incidents: IncidentBoard;
    callbacks: Callbacks;
    traffic: Traffic;
    withdrawals: Withdrawals;
    seeded: SeededOrders;
    stats: () => object;
  },
): void {
  const { config, orders, faults, incidents, traffic, seeded } = parts;
  const now = () => config.clock.now();
  const find = (id: string) => orders.byExternalId('Deposit', id) ?? orders.byExternalId('Withdrawal', id);
  const withOrder = (reply: FastifyReply, id: string, work: (order: Order) => unknown) => {
    const order = find(id);
    return order ? work(order) : refuse(reply, 404, 'no order has this externalId');
  };
  const settle = (reply: FastifyReply, made: Order | 'exists' | 'full') => {
    if (made === 'exists') return refuse(reply, 409, 'an order with this id exists');
    if (made === 'full') return refuse(reply, 503, 'no room: all orders in memory are unfinished');
    return reply.code(201).send(truthOf(made, now()));
  };

  void app.register(
    async (admin) => {
      // Browsers reach loopback too: a page of another site may have a name that resolves here.
      admin.addHook('onRequest', async (request, reply) => {
        if (config.adminRemote) return;
        const local = isLoopback(addressOf(request)) && LOCAL_HOST.test(request.headers.host ?? '');
        if (!local || request.headers.origin !== undefined) {
          await refuse(reply, 403, 'the admin API is served to loopback only; see --admin-remote');
        }
      });
      admin.get('/', () => ADMIN_GUIDE);
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
      admin.post<{ Body: FaultRequest }>(
        '/faults',
        { schema: { body: ADMIN_SCHEMAS.fault } },
        (request, reply) => reply.code(201).send(faults.add(request.body)),
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

      admin.post<{ Body: WithdrawalRequest }>(
        '/withdrawals',
        { schema: { body: ADMIN_SCHEMAS.withdrawal } },
        (request, reply) => settle(reply, parts.withdrawals.create(request.body)),
      );
      admin.post<{ Body: SeededOrder }>(
        '/orders',
        { schema: { body: ADMIN_SCHEMAS.order } },
        (request, reply) => settle(reply, seeded.create(request.body)),
      );
      admin.get<{ Querystring: { since?: string; limit?: string } }>('/orders', (request, reply) => {
        const page = listOrders(orders, now(), request.query);
        return page ?? refuse(reply, 400, 'since is a sequence number or an ISO time, limit 1 to 10000');
      });
      admin.get<{ Params: { id: string } }>('/orders/:id', (request, reply) =>
        withOrder(reply, request.params.id, (order) => truthOf(order, now())),
      );
      admin.post<{ Params: { id: string }; Body: SeededItem }>(
        '/orders/:id/items',
        { schema: { body: ADMIN_SCHEMAS.item } },
        (request, reply) =>
          withOrder(reply, request.params.id, (order) => {
            seeded.append(order, request.body);
            return truthOf(order, now());
          }),
      );
      admin.put<{ Params: { id: string }; Body: { status?: string; amount?: number } }>(
        '/orders/:id/status',
        { schema: { body: ADMIN_SCHEMAS.status } },
        (request, reply) =>
          withOrder(reply, request.params.id, (order) => {
            seeded.setStatus(order, request.body);
            return truthOf(order, now());
          }),
      );
      admin.post<{ Params: { id: string }; Body: CallbackOptions }>(
        '/orders/:id/callbacks',
        { schema: { body: ADMIN_SCHEMAS.callback } },
        (request, reply) =>
          withOrder(reply, request.params.id, (order) =>
            parts.callbacks.sendNow(order, request.body)
              ? reply.code(202).send({ queued: request.body.times ?? 1 })
              : refuse(
                  reply,
                  409,
                  'there is no callback address: neither static, nor of the order, nor given here',
                ),
          ),
      );
    },
    { prefix: '/admin' },
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
