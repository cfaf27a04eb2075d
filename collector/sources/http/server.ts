import { STATUS_CODES } from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { httpConfigSchema, type HttpLimits } from '../../../schemas/config-http.ts';
import { withDeadline } from '../../../schemas/deadline.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { addressList } from './addresses.ts';
import { limitConnections } from './connections.ts';
import { CODINGS, decodeContent } from '../content-coding.ts';
import { forwardedAddresses } from './forwarded-for.ts';
import { guardRequests, type GuardOptions } from './guard.ts';
import { sendProblem } from '../../../schemas/http-problem.ts';
import type { TlsFiles } from './tls.ts';

export interface HttpServer {
  /** `http://host:port`, or `https://`. */
  readonly url: string;
  /** Uses this certificate for new connections. No effect on a listener without TLS. */
  renewTls(files: TlsFiles): void;
  /** Takes no more connections and ends idle ones; waits for running requests, at most so long. */
  stop(graceMs: number): Promise<void>;
}

export interface HttpServerOptions extends Omit<GuardOptions, 'requestsPerSecond'> {
  readonly host: string;
  readonly port: number;
  readonly maxBodyBytes: number;
  /** @default plain HTTP */
  readonly tls?: TlsFiles;
  /** @default those of the configuration's schema */
  readonly limits?: HttpLimits;
  /** Proxies whose `X-Forwarded-For` is believed. @default none */
  readonly trustedProxies?: readonly string[];
  readonly log: Logger;
  /** Adds the routes. */
  readonly routes: (app: FastifyInstance) => void;
}

type HttpError = Error & { statusCode?: number };

/** What is answered to a body whose content coding cannot be taken away. */
const STATUS_OF_CODING = { unknown: 415, too_large: 413 } as const;

/** How often Node looks for requests that are late: limits are exceeded by at most this. */
const LOOK_FOR_LATE_MS = 1_000;
/** For peers that do not finish the TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

async function sendError(
  { statusCode: status = 500 }: HttpError,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (status !== 415) return sendProblem(reply, { status, title: STATUS_CODES[status] ?? 'Error' });
  reply.header('accept-encoding', CODINGS);
  const detail = `The body's Content-Encoding is not known here. Send none, or one of ${CODINGS}.`;
  return sendProblem(reply, { status, title: 'Unsupported Media Type', detail });
}

/**
 * Starts one listener. Bodies arrive as bytes, since signatures are over bytes; routes parse them.
 * @throws GatewatchError `http_listen_failed`
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const {
    host,
    port,
    tls,
    limits = httpConfigSchema.parse({}).limits,
    onRefused = () => undefined,
  } = options;
  const app = createApp(options, limits);
  const isProxy = addressList(options.trustedProxies ?? []);
  limitConnections(app.server, {
    ...limits,
    isTrusted: (address) => isProxy(address) || (options.isTrusted?.(address) ?? false),
    onClosed: () => onRefused('connections'),
  });
  readForwardedFor(app);
  await guardRequests(app, { ...options, requestsPerSecond: limits.requestsPerSecond });
  addHandlers(app, options);
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
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    renewTls(files) {
      if ('setSecureContext' in app.server) (app.server as unknown as TlsServer).setSecureContext(files);
    },
    async stop(graceMs) {
      await withDeadline(app.close(), graceMs, () => app.server.closeAllConnections());
    },
  };
}

function createApp(options: HttpServerOptions, limits: HttpLimits): FastifyInstance {
  const { maxBodyBytes, tls, trustedProxies = [] } = options;
  const server = {
    headersTimeout: limits.headersTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: LOOK_FOR_LATE_MS,
  };
  const common = {
    bodyLimit: maxBodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    logger: false,
    forceCloseConnections: 'idle',
    // An address with a slash at its end is the one without.
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // For paths that reach no route: fastify's default answer would repeat them.
    frameworkErrors: (error: HttpError, _request: unknown, reply: FastifyReply) =>
      void sendError(error, reply),
  } as const;
  if (tls === undefined) return fastify({ ...common, http: server });
  const https = { ...server, ...tls, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  return fastify({ ...common, https }) as unknown as FastifyInstance;
}

/** Before anything asks for a request's address: fastify believes the header as it stands. */
function readForwardedFor(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const header = headers['x-forwarded-for'];
    if (header === undefined) return;
    const addresses = forwardedAddresses(Array.isArray(header) ? header.join(',') : header);
    if (addresses.length === 0) delete headers['x-forwarded-for'];
    else headers['x-forwarded-for'] = addresses.join(', ');
  });
}

function addHandlers(app: FastifyInstance, { log, maxBodyBytes }: HttpServerOptions): void {
  app.removeAllContentTypeParsers();
  // A malformed content type is no reason to lose a callback: bodies are taken as bytes whatever it says.
  app.addHook('onRequest', async ({ raw }) => {
    const { headers } = raw;
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      headers['content-type'] = 'application/octet-stream';
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const decoded = decodeContent(body as Buffer, request.headers['content-encoding'], maxBodyBytes);
    if (decoded.ok) done(null, decoded.body);
    // Not what its coding says: it goes on as it came, and is kept as malformed.
    else if (decoded.reason === 'damaged') done(null, body);
    else done(Object.assign(new Error(decoded.reason), { statusCode: STATUS_OF_CODING[decoded.reason] }));
  });
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
}
