import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { authenticate, refusalOfForeignPage } from './access.ts';
import { fromEngineError } from './clickhouse-error.ts';
import type { QueryRequest } from './query-handler.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { openBody } from './request-body.ts';
import { readForm } from './request-form.ts';
import { readRequestParams } from './request-params.ts';
import { createAnswer, type Answer } from './response.ts';
import { proofOfSecret } from './writer-secret.ts';

export interface HttpServerOptions {
  readonly writerSecret: string;
  readonly readerLimits: ReaderLimits;
  /** Runs a statement; a rejection becomes the answer. Requests that come before the engine is up wait here. */
  readonly handle: (request: QueryRequest) => Promise<void>;
  readonly log: (level: 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface HttpServer {
  readonly server: Server;
  /** Stops accepting and resolves when every running request has been answered, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** ClickHouse's HTTP interface: `/ping`, `/replicas_status`, and statements on `/`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const running = new Set<Promise<void>>();
  // A long statement in the URL is normal for this interface, and so is an insert that takes its time.
  const limits = { maxHeaderSize: 1 << 20, requestTimeout: 0, keepAliveTimeout: 10_000, noDelay: true };
  const server = createServer(limits, (request, response) => {
    const work = respond(request, response).finally(() => running.delete(work));
    running.add(work);
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = createAnswer(request, response);
    response.on('error', () => undefined);
    try {
      await route(request, response, answer);
    } catch (error) {
      const failure = fromEngineError(error);
      // The text may quote a statement's values: it goes to the client and not to the log.
      if (failure.clickhouseCode === 1002)
        options.log('error', 'a request failed in an unknown way', causeOf(error));
      await answer.fail(failure).catch(() => response.destroy());
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    const refusal = refusalOfForeignPage(request.headers);
    if (refusal !== null) return plain(response, 403, refusal);
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!reads && request.method !== 'POST')
      return plain(response, 405, 'Only GET, HEAD and POST are supported.');
    const nonce = single(request.headers['x-gatewatch-nonce']);
    if (nonce !== undefined)
      response.setHeader('X-Gatewatch-Proof', proofOfSecret(options.writerSecret, nonce));
    if (reads && (url.pathname === '/ping' || url.pathname === '/replicas_status'))
      return plain(response, 200, 'Ok.');
    if (url.pathname !== '/' && url.pathname !== '/query') {
      return plain(response, 404, `There is no handle ${url.pathname}. Use / or /ping or /replicas_status.`);
    }
    if (reads && !url.searchParams.has('query')) return plain(response, 200, 'Ok.');
    await query(request, response, answer, url.searchParams, !reads);
  }

  async function query(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    search: URLSearchParams,
    mayWrite: boolean,
  ): Promise<void> {
    const queryId = printable(search.get('query_id') ?? '') || randomUUID();
    response.setHeader('X-ClickHouse-Query-Id', queryId);
    response.setHeader('X-ClickHouse-Server-Display-Name', 'gatewatch-embedded');
    response.setHeader('X-ClickHouse-Timezone', 'UTC');
    const role = authenticate(request.headers, search, options.writerSecret);
    const form = await readForm(request, openBody(request));
    const headers = {
      database: single(request.headers['x-clickhouse-database']),
      format: single(request.headers['x-clickhouse-format']),
    };
    const params = readRequestParams([...search, ...form.fields], headers, role, options.readerLimits);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const narrowed = mayWrite && !asksReadonly(search);
    await options.handle({ role, mayWrite: narrowed, params, body: form.body, answer, gone: gone.signal });
  }

  return {
    server,
    async drain(timeoutMs) {
      server.close();
      server.closeIdleConnections();
      const timer = AbortSignal.timeout(timeoutMs);
      const expired = new Promise<void>((done) => timer.addEventListener('abort', () => done()));
      await Promise.race([Promise.allSettled(running), expired]);
      server.closeAllConnections();
    },
  };
}

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
