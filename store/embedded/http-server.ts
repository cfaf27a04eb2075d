import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { settlesWithin } from '../../schemas/deadline.ts';
import { authenticate, refusalOfAnyPage, type Digests } from './access.ts';
import { fromEngineError } from './clickhouse-error.ts';
import { limitConnections } from './connections.ts';
import type { WriterRequest } from './query-request.ts';
import type { ReaderHttpRequest } from './reader/reader-queries.ts';
import { openBody } from './request-body.ts';
import { readForm } from './request-form.ts';
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
    const work = respond(request, response).finally(() => running.delete(work));
    running.add(work);
  });
  const connections = limitConnections(server, MAX_CONNECTIONS);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = createAnswer(request, response);
    response.on('error', () => undefined);
    try {
      await route(request, response, answer);
    } catch (error) {
      const failure = fromEngineError(error);
      // The text may quote a statement's values: it goes to the client and not to the log. A client that has
      // gone is no failure of ours, and must not fill the log.
      if (failure.clickhouseCode === 1002 && !response.destroyed)
        options.log('error', 'a request failed in an unknown way', causeOf(error));
      await answer.fail(failure).catch(() => response.destroy());
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    const refusal = refusalOfAnyPage(request.headers);
    if (refusal !== null) return plain(response, 403, refusal);
    const address = request.url ?? '/';
    if (!URL.canParse(address, BASE)) return plain(response, 400, 'The address cannot be read.');
    const url = new URL(address, BASE);
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!reads && request.method !== 'POST')
      return plain(response, 405, 'Only GET, HEAD and POST are supported.');
    const nonce = single(request.headers['x-gatewatch-nonce']);
    if (nonce !== undefined)
      response.setHeader('X-Gatewatch-Proof', proofOfDigest(options.digests.writer, nonce));
    if (reads && (url.pathname === '/ping' || url.pathname === '/replicas_status'))
      return plain(response, 200, 'Ok.');
    if (url.pathname !== '/' && url.pathname !== '/query') {
      return plain(response, 404, 'There is no such handle. Use / or /ping or /replicas_status.');
    }
    if (reads && !url.searchParams.has('query')) return plain(response, 200, 'Ok.');
    await query(request, response, answer, url.searchParams);
  }

  async function query(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    search: URLSearchParams,
  ): Promise<void> {
    const queryId = printable(search.get('query_id') ?? '') || randomUUID();
    response.setHeader('X-ClickHouse-Query-Id', queryId);
    response.setHeader('X-ClickHouse-Server-Display-Name', 'gatewatch-embedded');
    response.setHeader('X-ClickHouse-Timezone', 'UTC');
    const role = authenticate(request.headers, search, options.digests);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { headers } = request;
    const named = {
      database: single(headers['x-clickhouse-database']),
      format: single(headers['x-clickhouse-format']),
    };
    if (role === 'reader') return read(request, search, named, answer, gone.signal);
    connections.trust(request.socket);
    const form = await readForm(request, openBody(request));
    const params = readRequestParams([...search, ...form.fields], named);
    const mayWrite = request.method === 'POST' && !asksReadonly(search);
    const { writer } = await options.queries;
    await writer({ mayWrite, params, body: form.body, answer, gone: gone.signal });
  }

  async function read(
    request: IncomingMessage,
    search: URLSearchParams,
    headers: ReaderHttpRequest['headers'],
    answer: Answer,
    gone: AbortSignal,
  ): Promise<void> {
    const { reader } = await options.queries;
    await reader({
      // Passwords and what means nothing here go no further.
      search: [...search].filter(([name]) => !ignoredParams.has(name)),
      headers,
      contentType: request.headers['content-type'] ?? '',
      contentEncoding: request.headers['content-encoding'] ?? '',
      body: request,
      answer,
      gone,
    });
  }

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

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, 256);
}
