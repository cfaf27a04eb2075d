import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** Distinct spans received. */
  spans(): number;
  stop(): Promise<void>;
}

/** A stand-in for a tracing backend: takes OTLP over HTTP and counts spans by their ids. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const ids = new Set<string>();
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.url === '/v1/traces') {
        for (const id of spanIds(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body))
          ids.add(id);
      }
      reply.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => ids.size,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The ids in an ExportTraceServiceRequest. Its grammar, as far as it is read here:
 * request = { resource_spans: field 1 }*, resource_spans = { scope_spans: field 2 }*, scope_spans = { span:
 * field 2 }*,
 *   span = trace_id: field 1, span_id: field 2
 */
export function* spanIds(message: Uint8Array): Generator<string> {
  for (const resourceSpans of messages(message, 1)) {
    for (const scopeSpans of messages(resourceSpans, 2)) {
      for (const span of messages(scopeSpans, 2)) {
        const [traceId] = messages(span, 1);
        const [spanId] = messages(span, 2);
        yield Buffer.from([...(traceId ?? []), ...(spanId ?? [])]).toString('hex');
      }
    }
  }
}

/** The length-delimited fields of that number in a protobuf message. */
function* messages(message: Uint8Array, wanted: number): Generator<Uint8Array> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; at < message.length; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === 0) varint();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else if (type === 2) {
      const length = varint();
      if (field === wanted) yield message.subarray(at, at + length);
      at += length;
    } else return;
  }
}
