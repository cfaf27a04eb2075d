import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { convertLegacyHttpOptions } from '@opentelemetry/otlp-exporter-base/node-http';
import type { SpanTransport, TransportOptions } from './transport.ts';
import { ExportError, MAX_ANSWER_BYTES, unreachable } from './transport.ts';

export interface HttpTransportOptions extends TransportOptions {
  /** Of the requests: `application/x-protobuf` or `application/json`. */
  readonly contentType: string;
}

/**
 * OTLP over HTTP. The library reads the standard variables (addresses, headers, certificates, compression,
 * time limit); the request is ours, since the library's own repeats it a few times, does not pass on for how
 * long the receiver wants to be left alone, and only logs what it did not take.
 */
export function createHttpTransport(options: HttpTransportOptions): SpanTransport {
  const { endpoint, headers, timeoutMs, contentType } = options;
  const settings = convertLegacyHttpOptions(
    {
      ...(endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
      ...(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs }),
    },
    'TRACES',
    'v1/traces',
    { 'Content-Type': contentType },
  );
  const url = new URL(settings.url);
  const agent = Promise.resolve(settings.agentFactory(url.protocol));

  return {
    async post(request) {
      const isPacked = settings.compression === 'gzip';
      const body = isPacked ? await promisify(gzip)(request) : request;
      return exchange(url, body, {
        method: 'POST',
        agent: await agent,
        headers: {
          ...(await settings.headers()),
          ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
          'Content-Length': body.byteLength,
        },
        // Over all of it: a receiver that drips is none.
        signal: AbortSignal.timeout(settings.timeoutMillis),
      });
    },
    close: () => void agent.then((one) => one.destroy()),
  };
}

function exchange(url: URL, body: Uint8Array, options: RequestOptions): Promise<Uint8Array> {
  const open: (url: URL, options: RequestOptions) => ClientRequest =
    url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(unreachable(error));
    const request = open(url, options).on('error', fail);
    request.on('response', (response) => void readAnswer(response).then(resolve, reject));
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Uint8Array> {
  const { statusCode = 0, headers } = response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // What a long answer says is not needed; the connection is not used again.
      if (bytes > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreachable(error);
  }
  if (statusCode >= 200 && statusCode < 300) return bytes > MAX_ANSWER_BYTES ? EMPTY : Buffer.concat(chunks);
  throw new ExportError(`the OTLP receiver answered ${statusCode}`, {
    code: REFUSALS.has(statusCode) ? 'export_refused' : 'export_failed',
    retryAfterMs: readRetryAfter(headers['retry-after']),
  });
}

const EMPTY = new Uint8Array();

/**
 * Answers about the content of the request. A wrong credential or address is no refusal: the spans are still
 * wanted once somebody has corrected it.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** `Retry-After` of RFC 9110, 10.2.3: seconds or a date. Null: absent, or neither. */
function readRetryAfter(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
