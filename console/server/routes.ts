import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../../schemas/json.ts';
import { describe } from '../../schemas/redact.ts';
import { firstProblem, problemText } from '../../schemas/problem.ts';
import { sendProblem } from '../../schemas/http-problem.ts';
import type { Asked, Console } from './console.ts';
import type { PageFiles } from './page-files.ts';
import { panelRequestSchema, scopeSchema } from './request-schemas.ts';

/** What the page looks back at most. */
const MOST_DAYS = 31;

export interface ConsoleRoutesOptions {
  readonly console: Console;
  /** Rejects while the page cannot be built. */
  readonly page: () => Promise<PageFiles>;
  readonly log: Logger;
}

/**
 * No inline script, nothing from elsewhere; plots size themselves with style properties, which is no inline
 * style.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The console: its page under `/d/{uid}`, its files and its interface under `/console`. */
export function consoleRoutes(app: FastifyInstance, options: ConsoleRoutesOptions): void {
  const { console, log } = options;
  const withPage = async (reply: FastifyReply, send: (page: PageFiles) => FastifyReply) => {
    try {
      return send(await options.page());
    } catch (error) {
      log.error({ err: error }, 'the console cannot be served');
      const detail = 'The page could not be built. The log says why.';
      return sendProblem(reply, { status: 503, title: 'Service Unavailable', detail });
    }
  };
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
    const sendPage = (_request: FastifyRequest, reply: FastifyReply) =>
      withPage(reply, ({ html }) =>
        reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(html),
      );
    scope.get('/d/:uid', sendPage);
    scope.get('/d/:uid/:slug', sendPage);
    scope.get<{ Params: { version: string; '*': string } }>('/console/assets/:version/*', (request, reply) =>
      withPage(reply, ({ version, assets }) => {
        const file = assets.get(request.params['*']);
        if (file === undefined) return notFound(reply, 'No such file.');
        const current = request.params.version === version;
        const kept = current ? 'public, max-age=31536000, immutable' : 'no-store';
        return reply.type(file.type).header('cache-control', kept).send(file.body);
      }),
    );

    scope.get('/console/api/dashboards', async (_request, reply) => answer(reply, console.dashboards()));
    scope.get<{ Params: { uid: string } }>('/console/api/dashboards/:uid', async (request, reply) => {
      const board = console.dashboard(request.params.uid);
      return board === null ? notFound(reply, 'no such dashboard') : answer(reply, board);
    });
    scope.get('/console/api/alerts', async (_request, reply) => answer(reply, await console.alerts()));
    incidentRoutes(scope, console);
    scope.post('/console/api/query', async (request, reply) =>
      ask(request, reply, panelRequestSchema, console.panel),
    );
    scope.post('/console/api/variables', async (request, reply) =>
      ask(request, reply, scopeSchema, console.variables),
    );
    scope.post('/console/api/annotations', async (request, reply) =>
      ask(request, reply, scopeSchema, console.annotations),
    );
  });
}

function incidentRoutes(scope: FastifyInstance, console: Console): void {
  scope.get<{ Querystring: Record<string, string> }>('/console/api/incidents', async (request, reply) => {
    const { days = '0' } = request.query;
    if (!/^\d{1,2}$/.test(days) || Number(days) > MOST_DAYS)
      return badRequest(
        reply,
        `days: expected a whole number up to ${MOST_DAYS}, received ${describe(days)}`,
      );
    return answer(reply, await console.incidents(Number(days)));
  });
  scope.post('/console/api/silences', async (request, reply) =>
    ask(request, reply, z.unknown(), console.silence),
  );
  scope.delete<{ Params: { id: string } }>('/console/api/silences/:id', async (request, reply) =>
    answerAsked(reply, await console.unsilence(request.params.id)),
  );
}

const answer = (reply: FastifyReply, value: unknown) => reply.header('cache-control', 'no-store').send(value);
const notFound = (reply: FastifyReply, detail: string) =>
  sendProblem(reply, { status: 404, title: 'Not Found', detail });

const badRequest = (reply: FastifyReply, detail: string) =>
  sendProblem(reply, { status: 400, title: 'Bad Request', detail });

async function ask<S extends z.ZodType, T>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: S,
  run: (input: z.infer<S>, signal: AbortSignal) => Promise<Asked<T>>,
): Promise<FastifyReply> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    const detail = 'Content-Type: expected application/json';
    return sendProblem(reply, { status: 415, title: 'Unsupported Media Type', detail });
  }
  const input = Buffer.isBuffer(request.body) ? parseJson(request.body.toString('utf8')) : undefined;
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    return badRequest(reply, problemText(firstProblem(parsed.error, input)));
  }
  // Not the request's own signal: it says that the question has been read.
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return answerAsked(reply, await run(parsed.data, gone.signal));
}

function answerAsked<T>(reply: FastifyReply, asked: Asked<T>): FastifyReply {
  if ('answer' in asked) return answer(reply, asked.answer);
  const { status, problem: detail } = asked;
  return sendProblem(reply, { status, title: STATUS_CODES[status] ?? 'Error', detail });
}
