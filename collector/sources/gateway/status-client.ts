import type { GatewayConfig, StatusPaths } from '../../../schemas/config.ts';
import type { PollOutcome } from '../../../schemas/rows.ts';
import { decodeContent, type DecodedContent } from '../content-coding.ts';
import { openConnections, type ProxyEnvironment } from './connections.ts';
import type { RawReply } from './exchange.ts';
import { endpointOf, type Endpoint, type HttpReply } from '../../../schemas/polling.ts';
import { createUuidSpelling } from './uuid-spelling.ts';
import { isSafeId } from '../../../schemas/order-id.ts';
import type { WatchedOrder } from '../../../schemas/watch.ts';

const PATH_KEYS: Readonly<Record<Endpoint, keyof StatusPaths>> = {
  'deposit-status': 'depositStatus',
  'deposit-status-by-transaction': 'depositStatusByTransaction',
  'withdrawal-status': 'withdrawalStatus',
  'withdrawal-status-by-transaction': 'withdrawalStatusByTransaction',
};

export interface StatusClient {
  /**
   * One status request. Never throws for what the gateway or the network does: that is an outcome.
   * @param deadlineMs shortens the deadline of the configuration
   */
  read(order: WatchedOrder, deadlineMs?: number): Promise<HttpReply>;
  close(): Promise<void>;
}

/**
 * Reads order status over HTTP (interface document, sections 4.3-4.5, 5). A keep-alive pool per gateway, no
 * redirects (they would carry the token elsewhere), a size cap, and one deadline over headers and body.
 */
export function createStatusClient(gateway: GatewayConfig, proxy?: ProxyEnvironment): StatusClient {
  const { deadlineMs, maxReplyBytes } = gateway.poll;
  const base = new URL(gateway.secureUrl);
  const connections = openConnections(gateway, proxy);
  // With each request: the token may be renewed.
  const headers = () => ({
    authorization: `Bearer ${gateway.token.reveal()}`,
    'content-type': 'application/json',
    accept: 'application/json, text/plain',
    'accept-encoding': 'identity',
  });

  const spelling = createUuidSpelling();
  const root = base.pathname.replace(/\/+$/, '') + gateway.pathPrefix;
  const pathOf = (order: WatchedOrder, segment: string): string =>
    root + gateway.paths[PATH_KEYS[endpointOf(order)]].replace('{id}', segment);

  return {
    async read(order, shorterMs = deadlineMs) {
      const isOwn = order.idKind === 'external-id';
      const id = isOwn ? spelling.of(order.orderId) : order.orderId;
      const segment = pathSegment(id);
      if (segment === null) return noReply('unsafe_id');
      const path = pathOf(order, segment);
      const request = {
        origin: base.origin,
        path,
        headers: headers(),
        deadlineMs: Math.min(deadlineMs, shorterMs),
        maxBytes: maxReplyBytes,
      };
      const reply = toReply(await connections.exchange(request), maxReplyBytes);
      if (isOwn) spelling.heard(id, reply.outcome);
      return reply;
    },
    close: connections.close,
  };
}

function toReply(
  { httpStatus, headers, body, bodyBytes, end, error }: RawReply,
  maxBytes: number,
): HttpReply {
  if (httpStatus === null) return noReply(end === 'timeout' ? end : errorTypeOf(error, false));
  const { outcome, errorType } = classify(httpStatus);
  const retryAfterMs = readRetryAfter(headers['retry-after'], headers['date']);
  // The status has said it all: a body that is too long, cut off or late takes nothing from that.
  if (outcome !== 'ok') return { httpStatus, outcome, errorType, body: null, bodyBytes, retryAfterMs };
  const refused = (reason: string): HttpReply => {
    return {
      httpStatus,
      outcome: 'invalid_response',
      errorType: reason,
      body: null,
      bodyBytes,
      retryAfterMs,
    };
  };
  switch (end) {
    case 'complete': {
      const content = contentOf(body, headers['content-encoding'], maxBytes);
      if (!content.ok) return refused(CODING_ERRORS[content.reason]);
      const text = content.body.toString('utf8');
      return { httpStatus, outcome, errorType, body: text, bodyBytes, retryAfterMs };
    }
    case 'too_large':
      return refused('too_large');
    case 'timeout':
      return noReply('timeout');
    case 'failed':
      return noReply(errorTypeOf(error, true));
  }
}

const CODING_ERRORS = {
  unknown: 'coding_unknown',
  damaged: 'coding_damaged',
  too_large: 'too_large',
} as const;

function contentOf(body: readonly Buffer[], coding: Header, maxBytes: number): DecodedContent {
  const [first] = body;
  const whole = first !== undefined && body.length === 1 ? first : Buffer.concat(body);
  return coding === undefined ? { ok: true, body: whole } : decodeContent(whole, coding, maxBytes);
}

function noReply(errorType: string): HttpReply {
  return { httpStatus: null, outcome: 'unknown', errorType, body: null, bodyBytes: 0, retryAfterMs: null };
}

/**
 * The id as one segment of a path; null when it could lead elsewhere: some servers decode `%2F` before they
 * resolve `..`.
 */
function pathSegment(id: string): string | null {
  return isSafeId(id) ? encodeURIComponent(id) : null;
}

/**
 * Section 1 rule 1 and section 7. 404 and 429 by analogy: the interface lists errors of create requests only.
 */
export function classify(status: number): { outcome: PollOutcome; errorType: string } {
  if (status >= 200 && status < 300) return { outcome: 'ok', errorType: '' };
  const errorType = `http_${status}`;
  switch (status) {
    case 401:
      return { outcome: 'unauthorized', errorType };
    case 403:
      return { outcome: 'forbidden', errorType };
    case 404:
      return { outcome: 'not_found', errorType };
    case 423:
      return { outcome: 'locked', errorType };
    case 429:
      return { outcome: 'rate_limited', errorType };
    default:
      return { outcome: status >= 400 && status < 499 ? 'client_error' : 'unknown', errorType };
  }
}

type Header = string | string[] | undefined;

/** Milliseconds from now, of seconds or a date; the date by the gateway's own clock where it sends that. */
function readRetryAfter(header: Header, date: Header): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = readDate(text);
  if (at === null) return null;
  return Math.max(0, at - (readDate(typeof date === 'string' ? date : '') ?? Date.now()));
}

function readDate(text: string): number | null {
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const ERROR_TYPES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'connection_closed',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  EPROTO: 'tls',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
};

function errorTypeOf(error: unknown, hasHeaders: boolean): string {
  const { name, code = '', cause } = error as { name?: string; code?: string; cause?: { code?: string } };
  const known = ERROR_TYPES[code] ?? ERROR_TYPES[cause?.code ?? ''];
  // Closed in an orderly way, but before the end.
  if (known === 'connection_closed' && hasHeaders) return 'truncated';
  if (known !== undefined) return known;
  if (name === 'HTTPParserError') return 'protocol';
  return /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code) ? 'tls' : 'connection';
}
