import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { settlesWithin } from '../../schemas/deadline.ts';
import { authenticate, firstValue, refuseBrowser, type Digests } from './access.ts';
import { fromEngineError } from './clickhouse-error.ts';
import type { WriterRequest } from './query-request.ts';
import type { ReaderHttpRequest } from './reader/reader-queries.ts';
import { openBody, readForm } from './request-body.ts';
import { readRequestParams } from './request-params.ts';
import { createAnswer, type Answer } from './response.ts';
import { proofOfDigest } from './secrets.ts';
import { ignoredParams } from './setting-rules.ts';

export interface Queries {
  readonly writer: (request: WriterRequest) => Promise<void>;
  readonly reader: (request: ReaderHttpRequest) => Promise<void>;
}

export interface HttpServerOptions {
  readonly digests: Digests;
  /**
   * Runs a statement; a rejection becomes the answer. Requests that come before the engine is up wait for it.
   */
  readonly queries: Promise<Queries>;
  readonly log: (level: 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface HttpServer {
  readonly server: Server;
  /** Stops accepting and resolves when every running request has been answered, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** Connections that have not shown the writer's password. */
const MAX_CONNECTIONS = 256;

const LIMITS = {
  // A long statement in the URL is normal for this interface.
  maxHeaderSize: 1 << 20,
  headersTimeout: 10_000,
  // An insert takes its time; a reader's body has a deadline of its own.
  requestTimeout: 0,
  keepAliveTimeout: 10_000,
  noDelay: true,
} as const;

/** ClickHouse's HTTP interface: `/ping`, `/replicas_status`, and statements on `/`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const running = new Set<Promise<void>>();
  const server = createServer(LIMITS, (request, response) => {
    const exchange = { request, response, answer: createAnswer(request, response) };
    const work = respond(exchange, options, connections).finally(() => running.delete(work));
    running.add(work);
  });
  const connections = limitConnections(server, MAX_CONNECTIONS);
  return {
    server,
    async drain(timeoutMs) {
      server.close();
      server.closeIdleConnections();
      await settlesWithin(Promise.allSettled(running), timeoutMs);
      server.closeAllConnections();
    },
  };
}

/** One request and its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: Answer;
}

async function respond(
  exchange: Exchange,
  options: HttpServerOptions,
  connections: Connections,
): Promise<void> {
  const { request, response, answer } = exchange;
  response.on('error', () => undefined);
  try {
    const route = routeOf(request);
    const nonce = firstValue(request.headers['x-gatewatch-nonce']);
    if (nonce !== undefined && route.kind !== 'refused')
      response.setHeader('X-Gatewatch-Proof', proofOfDigest(options.digests.writer, nonce));
    if (route.kind === 'statement') await runStatement(exchange, route.search, options, connections);
    else plain(response, route.status, route.text);
  } catch (error) {
    const failure = fromEngineError(error);
    // The text may quote a statement's values: it goes to the client and not to the log. A client that has
    // gone is no failure of ours, and must not fill the log.
    if (failure.clickhouseCode === 1002 && !response.destroyed)
      options.log('error', 'a request failed in an unknown way', causeOf(error));
    await answer.fail(failure).catch(() => response.destroy());
  }
}

/** What becomes of a request, as far as its head shows. */
export type Route =
  | { readonly kind: 'refused' | 'text'; readonly status: number; readonly text: string }
  | { readonly kind: 'statement'; readonly search: URLSearchParams };

export function routeOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Route {
  const refusal = refuseBrowser(request.headers);
  if (refusal !== null) return { kind: 'refused', status: 403, text: refusal };
  const address = request.url ?? '/';
  if (!URL.canParse(address, BASE))
    return { kind: 'refused', status: 400, text: 'The address cannot be read.' };
  const { pathname, searchParams } = new URL(address, BASE);
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (!reads && request.method !== 'POST')
    return { kind: 'refused', status: 405, text: 'Only GET, HEAD and POST are supported.' };
  if (reads && (pathname === '/ping' || pathname === '/replicas_status')) return OK;
  if (pathname !== '/' && pathname !== '/query') {
    const text = 'There is no such handle. Use / or /ping or /replicas_status.';
    return { kind: 'text', status: 404, text };
  }
  return reads && !searchParams.has('query') ? OK : { kind: 'statement', search: searchParams };
}

const OK: Route = { kind: 'text', status: 200, text: 'Ok.' };

async function runStatement(
  { request, response, answer }: Exchange,
  search: URLSearchParams,
  options: HttpServerOptions,
  connections: Connections,
): Promise<void> {
  const queryId = printable(search.get('query_id') ?? '') || randomUUID();
  response.setHeader('X-ClickHouse-Query-Id', queryId);
  response.setHeader('X-ClickHouse-Server-Display-Name', 'gatewatch-embedded');
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  const role = authenticate(request.headers, search, options.digests);
  const gone = new AbortController();
  // Also closes at its regular end, and then nothing is left to be stopped.
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const { headers } = request;
  const named = {
    database: firstValue(headers['x-clickhouse-database']),
    format: firstValue(headers['x-clickhouse-format']),
  };
  if (role === 'reader') {
    const { reader } = await options.queries;
    return reader({
      // Passwords and what means nothing here go no further.
      search: [...search].filter(([name]) => !ignoredParams.has(name)),
      headers: named,
      contentType: headers['content-type'] ?? '',
      contentEncoding: headers['content-encoding'] ?? '',
      body: request,
      answer,
      gone: gone.signal,
    });
  }
  connections.trust(request.socket);
  const form = await readForm(request, openBody(request));
  const params = readRequestParams([...search, ...form.fields], named);
  const mayWrite = request.method === 'POST' && !asksReadonly(search);
  const { writer } = await options.queries;
  return writer({ mayWrite, params, body: form.body, answer, gone: gone.signal });
}

const BASE = 'http://127.0.0.1';

/** A client can give its right to write away for one request. */
function asksReadonly(search: URLSearchParams): boolean {
  return search.getAll('readonly').some((value) => value !== '' && value !== '0');
}

function causeOf(error: unknown): Readonly<Record<string, unknown>> {
  return error instanceof Error ? { error: error.name, code: (error as NodeJS.ErrnoException).code } : {};
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.end(`${text}\n`);
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, 256);
}

/**
 * Limits a server's connections. A client that opens many can displace other readers, but never the writer.
 */
interface Connections {
  /** The connection has shown that it is the writer's: it is never closed for others. */
  trust(socket: Socket): void;
}

/**
 * At the bound, the oldest connection that is not trusted gives way to a new one.
 *
 * @param max how many connections that are not trusted may be open
 */
function limitConnections(server: Server, max: number): Connections {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= max) return;
    // A set keeps the order of insertion.
    const [oldest] = open;
    oldest?.destroy();
  });
  return { trust: (socket) => void open.delete(socket) };
}
