import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { Message } from './protobuf.ts';
import { readMessage } from './protobuf.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly events: readonly { readonly name: string; readonly nanos: bigint }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly resource: Readonly<Record<string, string | number | boolean>>;
  readonly scope: string;
}

export interface OtlpReceiver {
  readonly url: string;
  /** Spans of accepted requests. */
  readonly spans: readonly ReceivedSpan[];
  readonly headers: readonly Readonly<Record<string, string | string[] | undefined>>[];
  /** All requests, refused ones included. */
  requests(): number;
  /** Answers with this status and these headers from now on; 200 accepts. */
  answerWith(status: number, headers?: Readonly<Record<string, string>>): void;
  /** Takes requests from now on, and says that it rejects some of the spans of each. */
  reject(spans: number): void;
  /** When requests came, in milliseconds of `performance.now()`. */
  readonly times: readonly number[];
  /** Answers with the status that this gives for the spans of a request; null accepts. */
  refuse(decide: (spans: readonly ReceivedSpan[]) => number | null): void;
  close(): Promise<void>;
}

/**
 * An OTLP/HTTP receiver for traces: the path, the content type and the messages of the protocol's version 1.
 */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: OtlpReceiver['headers'][number][] = [];
  const times: number[] = [];
  let status = 200;
  let extra: Readonly<Record<string, string>> = {};
  let rejected = 0;
  let decide: (sent: readonly ReceivedSpan[]) => number | null = () => null;
  let requests = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    requests += 1;
    times.push(performance.now());
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(404).end();
    } else if (status !== 200) {
      response.writeHead(status, extra).end();
    } else {
      const sent = readRequest(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
      const refusal = decide(sent);
      if (refusal !== null) return void response.writeHead(refusal).end();
      headers.push(request.headers);
      spans.push(...sent);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(answerOf(rejected));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    requests: () => requests,
    refuse: (next) => void (decide = next),
    answerWith(next, headers = {}) {
      status = next;
      extra = headers;
    },
    reject: (some) => void (rejected = some),
    times,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** ExportTraceServiceResponse: partial_success = 1 { rejected_spans = 1, error_message = 2 }. */
function answerOf(rejected: number): Uint8Array {
  return rejected === 0 ? new Uint8Array() : Uint8Array.of(0x0a, 0x02, 0x08, rejected);
}

/**
 * ExportTraceServiceRequest: resource_spans = 1 { resource = 1, scope_spans = 2 { scope = 1, spans = 2 } }.
 */
export function readRequest(body: Uint8Array): ReceivedSpan[] {
  return readMessage(body)
    .messages(1)
    .flatMap((resourceSpans) => {
      const resource = readAttributes(resourceSpans.message(1), 1);
      return resourceSpans.messages(2).flatMap((scopeSpans) => {
        const scope = scopeSpans.message(1).text(1);
        return scopeSpans.messages(2).map((span) => readSpan(span, resource, scope));
      });
    });
}

/**
 * Span: trace_id 1, span_id 2, trace_state 3, parent_span_id 4, name 5, start 7, end 8, attributes 9,
 * events 11 { time 1, name 2 }, links 13 { trace_id 1, span_id 2 }, status 15 { message 2, code 3 }.
 */
function readSpan(span: Message, resource: ReceivedSpan['resource'], scope: string): ReceivedSpan {
  const status = span.message(15);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentSpanId: span.hex(4),
    traceState: span.text(3),
    name: span.text(5),
    startNanos: span.number(7),
    endNanos: span.number(8),
    statusCode: Number(status.number(3)),
    statusMessage: status.text(2),
    attributes: readAttributes(span, 9),
    events: span.messages(11).map((event) => ({ name: event.text(2), nanos: event.number(1) })),
    links: span.messages(13).map((link) => ({ traceId: link.hex(1), spanId: link.hex(2) })),
    resource,
    scope,
  };
}

/** KeyValue: key 1, value 2; AnyValue: string 1, bool 2, int 3, double 4. */
function readAttributes(message: Message, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    message.messages(field).map((pair) => {
      const value = pair.message(2);
      if (value.has(1)) return [pair.text(1), value.text(1)];
      if (value.has(2)) return [pair.text(1), value.number(2) === 1n];
      if (value.has(4)) return [pair.text(1), doubleOf(value.number(4))];
      return [pair.text(1), Number(BigInt.asIntN(64, value.number(3)))];
    }),
  );
}

const doubleOf = (bits: bigint): number => new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? Number.NaN;
