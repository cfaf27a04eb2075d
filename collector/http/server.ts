import { STATUS_CODES } from 'node:http';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { GatewatchError } from '../errors.ts';
import { refusalOfForeignPage } from './foreign-page.ts';
import { sendProblem } from './problem.ts';

export interface HttpServer {
  /** `http://host:port`. */
  readonly url: string;
  /** Takes no more connections and ends idle ones; waits for running requests, at most so long. */
  stop(graceMs: number): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  /** Names that requests may be for, beside `localhost` and IP addresses. @default none */
  readonly hosts?: readonly string[];
  readonly maxBodyBytes: number;
  readonly log: Logger;
  /** Adds the routes. */
  readonly routes: (app: FastifyInstance) => void;
}

type HttpError = Error & { statusCode?: number };

/** A request that has not arrived by then is ended: whoever drips must not hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 30_000;
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

async function sendError(
  { statusCode: status = 500 }: HttpError,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return sendProblem(reply, { status, title: STATUS_CODES[status] ?? 'Error' });
}

/**
 * One listener. Bodies arrive as bytes: signatures are over bytes, and nothing is parsed before its route wants it.
 * @throws GatewatchError `http_listen_failed`
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, maxBodyBytes, log } = options;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    logger: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500 },
    // Paths that no route gets to see: fastify's own answer repeats them.
    frameworkErrors: (error, _request, reply) => void sendError(error, reply),
  });
  app.removeAllContentTypeParsers();
  const hosts = new Set((options.hosts ?? []).map((name) => name.toLowerCase()));
  app.addHook('onRequest', async (request, reply) => {
    const refusal = refusalOfForeignPage(request.headers, hosts);
    if (refusal === null) return undefined;
    return sendProblem(reply, { ...refusal, title: STATUS_CODES[refusal.status] ?? 'Error' });
  });
  // A content type that makes no sense is no reason to lose a callback: bodies are bytes whatever they are called.
  app.addHook('onRequest', async ({ raw }) => {
    const { headers } = raw;
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      headers['content-type'] = 'application/octet-stream';
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) =>
    sendProblem(reply, {
      status: 404,
      title: 'Not Found',
      detail: 'No such address. GET / lists what there is.',
    }),
  );
  app.setErrorHandler((error: HttpError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error, route: request.routeOptions.url }, 'a request failed');
    return sendError(error, reply);
  });
  options.routes(app);
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    const hint = code === 'EADDRINUSE' ? ': another process listens there' : '';
    throw new GatewatchError(`Cannot listen on ${host}:${port} (${code})${hint}`, {
      code: 'http_listen_failed',
      cause,
    });
  }
  const address = app.server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    async stop(graceMs) {
      const { promise: deadline, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        app.server.closeAllConnections();
        resolve();
      }, graceMs);
      await Promise.race([app.close(), deadline]);
      clearTimeout(timer);
    },
  };
}
