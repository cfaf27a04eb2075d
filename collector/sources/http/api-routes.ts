import type { Health } from '../../telemetry/health.ts';
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { annotationOf, annotationRow } from '../../../schemas/annotation.ts';
import {
  cascadeQuerySchema,
  type CascadeQuery,
  type CascadeResult,
} from '../../../schemas/cascade-safety.ts';
import { orderQuerySchema, type OrderQuery, type OrderTimeline } from '../../../schemas/order-timeline.ts';
import type { Rows } from '../../../schemas/rows.ts';
import { parseKeepingIds } from '../../../schemas/json.ts';
import { checkWatchMessage } from '../../../schemas/watch-message.ts';
import { firstProblem, problemText, type Problem } from '../../../schemas/problem.ts';
import { isRetryable } from '../../../schemas/errors.ts';
import type { WatchRequest } from '../../../schemas/watch-message.ts';
import { sendProblem, type ProblemDetails } from '../../../schemas/http-problem.ts';

export interface ApiOptions {
  readonly version: string;
  readonly health: () => Health;
  readonly ready: () => Health;
  /** In the format that the header `Accept` asks for. */
  readonly metrics: (accept: string | undefined) => Promise<{ contentType: string; body: string }>;
  /** Each request's problem, null where there is none. */
  readonly judge: (requests: readonly WatchRequest[]) => readonly (Problem | null)[];
  /** Resolves when the orders are stored. */
  readonly watch: (requests: readonly WatchRequest[]) => Promise<void>;
  readonly timeline: (query: OrderQuery) => Promise<OrderTimeline | null>;
  readonly cascadeSafety: (query: CascadeQuery) => Promise<CascadeResult>;
  readonly annotate: (row: Rows['annotations']) => Promise<void>;
  /** Names of the configured gateways. */
  readonly gateways: readonly string[];
  readonly now: () => number;
  /** Where a browser that opens `/` is sent; null without a console. */
  readonly landing: (() => Promise<string>) | null;
}

/** The collector's own interface. Errors are `application/problem+json`. */
export function apiRoutes(app: FastifyInstance, options: ApiOptions): void {
  statusRoutes(app, options);
  watchRoute(app, options);
  timelineRoute(app, options);
  cascadeRoute(app, options);
  annotationRoute(app, options);
}

function statusRoutes(app: FastifyInstance, options: ApiOptions): void {
  const { landing, version } = options;
  const report = (reply: FastifyReply, health: Health) =>
    reply
      .code(health.ok ? 200 : 503)
      .send({ status: health.ok ? 'ok' : 'failing', problems: health.problems, ...health.details });
  app.get('/healthz', async (_request, reply) => report(reply, options.health()));
  app.get('/readyz', async (_request, reply) => report(reply, options.ready()));
  app.get('/metrics', async (request, reply) => {
    const { contentType, body } = await options.metrics(request.headers.accept);
    return reply.type(contentType).header('vary', 'accept').send(body);
  });
  app.get('/', async (request, reply) => {
    // Only clients that ask for HTML are redirected; others get the list.
    if (landing !== null && /\btext\/html\b/i.test(request.headers.accept ?? '')) {
      return reply.header('vary', 'accept').redirect(await landing());
    }
    const addresses = addressesOf({ hasConsole: landing !== null });
    return reply.header('vary', 'accept').send({ name: 'gatewatch', version, addresses });
  });
}

export function addressesOf({ hasConsole }: { readonly hasConsole: boolean }): string[] {
  return [
    '/healthz',
    '/readyz',
    '/metrics',
    '/orders/{id}',
    '/orders/{id}/cascade-safety',
    'POST /orders',
    'POST /annotations',
    'POST /callbacks/{gateway}',
    ...(hasConsole ? ['/d/{dashboard}'] : []),
  ];
}

function watchRoute(app: FastifyInstance, options: ApiOptions): void {
  app.post('/orders', async (request, reply) => {
    const input = readJson(request);
    if (input === undefined) return sendProblem(reply, notJson(request));
    const items: readonly unknown[] = Array.isArray(input) ? input : [input];
    if (items.length > MAX_WATCH_ITEMS) {
      const detail = `body: expected at most ${MAX_WATCH_ITEMS} orders, received ${items.length}`;
      return sendProblem(reply, { status: 400, title: 'Bad Request', detail });
    }
    const requests = items.map((item) => watchRequestOf(item, randomUUID()));
    // What is refused here is reported to the caller, who can correct it: it does not go into `rejects`.
    const problems = options.judge(requests);
    if (problems.some((problem) => problem !== null)) return sendProblem(reply, refusal(problems));
    await unlessUnavailable(reply, () => options.watch(requests));
    return reply.sent ? reply : reply.code(202).send({ watched: items.length });
  });
}

export function watchRequestOf(item: unknown, deliveryId: string): WatchRequest {
  const decoded = checkWatchMessage(item);
  return {
    message: decoded.ok ? decoded.message : null,
    problem: decoded.ok ? null : decoded.problem,
    source: 'http',
    deliveryId,
    coordinates: null,
  };
}

function timelineRoute(app: FastifyInstance, options: ApiOptions): void {
  app.get<{ Params: { id: string }; Querystring: Record<string, string> }>(
    '/orders/:id',
    async (request, reply) => {
      const wanted = { ...request.query, id: request.params.id };
      const parsed = orderQuerySchema.safeParse(wanted);
      if (!parsed.success) {
        const detail = problemText(firstProblem(parsed.error, wanted));
        return sendProblem(reply, { status: 400, title: 'Bad Request', detail });
      }
      const timeline = await unlessUnavailable(reply, () => options.timeline(parsed.data));
      if (reply.sent) return reply;
      if (timeline !== null) return reply.send(timeline);
      const detail =
        'No order with this id is known. Orders are known by callback, watch request or backfill only.';
      return sendProblem(reply, { status: 404, title: 'Not Found', detail });
    },
  );
}

function cascadeRoute(app: FastifyInstance, options: ApiOptions): void {
  app.get<{ Params: { id: string }; Querystring: Record<string, string> }>(
    '/orders/:id/cascade-safety',
    async (request, reply) => {
      // What was true a second ago may cost a payment now.
      void reply.header('cache-control', 'no-store');
      const wanted = { ...request.query, id: request.params.id };
      const parsed = cascadeQuerySchema.safeParse(wanted);
      if (!parsed.success) {
        const detail = problemText(firstProblem(parsed.error, wanted));
        return sendProblem(reply, { status: 400, title: 'Bad Request', detail });
      }
      const result = await unlessUnavailable(reply, () => options.cascadeSafety(parsed.data));
      if (result === null) return reply;
      if (result.ok) return reply.send(result.answer);
      const { conflict, detail } = result;
      if (conflict) return sendProblem(reply, { status: 409, title: 'Conflict', detail });
      return sendProblem(reply, { status: 400, title: 'Bad Request', detail });
    },
  );
}

function annotationRoute(app: FastifyInstance, options: ApiOptions): void {
  app.post('/annotations', async (request, reply) => {
    const input = readJson(request);
    if (input === undefined) return sendProblem(reply, notJson(request));
    const parsed = annotationOf(options.gateways).safeParse(input);
    if (!parsed.success) {
      const detail = problemText(firstProblem(parsed.error, input));
      return sendProblem(reply, { status: 400, title: 'Bad Request', detail });
    }
    const annotationId = randomUUID();
    const row = annotationRow(parsed.data, annotationId, options.now());
    const stored = await unlessUnavailable(reply, async () => {
      await options.annotate(row);
      return true;
    });
    return stored === null ? reply : reply.code(201).send({ annotationId });
  });
}

const MAX_WATCH_ITEMS = 1000;

/** Returns what `run` resolves to. Answers 503 and returns null when the store or Kafka does not answer. */
async function unlessUnavailable<T>(reply: FastifyReply, run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    if (!isRetryable(error)) throw error;
    const detail = 'The store or Kafka does not answer at present. Try again later.';
    await sendProblem(reply, { status: 503, title: 'Service Unavailable', detail, retryAfterS: 5 });
    return null;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Other content types are refused: browsers send them to loopback without a CORS preflight. */
function readJson(request: FastifyRequest): unknown {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return undefined;
  try {
    return parseKeepingIds(UTF8.decode(request.body as Buffer));
  } catch {
    return undefined;
  }
}

function notJson(request: FastifyRequest) {
  const json = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  return json
    ? { status: 400, title: 'Bad Request', detail: 'body: expected JSON in UTF-8, received something else' }
    : { status: 415, title: 'Unsupported Media Type', detail: 'Content-Type: expected application/json' };
}

/** Lists the items that are wrong: as text, and as data for `gatewatch backfill`. */
function refusal(problems: readonly (Problem | null)[]): ProblemDetails {
  const errors = problems.flatMap((problem, index) => (problem === null ? [] : [{ index, ...problem }]));
  const texts = errors.map((error) =>
    problems.length === 1 ? problemText(error) : `[${error.index}] ${problemText(error)}`,
  );
  return { status: 400, title: 'Bad Request', detail: texts.join('; '), errors };
}
