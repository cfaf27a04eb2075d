import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { readMessage } from '../support/protobuf.ts';

/** An OTLP/HTTP receiver that keeps of each span its id and a digest of its bytes: a million fit. */
export interface DigestReceiver {
  /** Distinct spans so far. */
  spans(): number;
  has(spanId: string): boolean;
  /** From that many spans on it takes requests and answers none: whoever sent them is killed in between. */
  holdAt(spans: number): void;
  /** Spans that came again, and those of them whose bytes were others. */
  repeated(): number;
  altered(): number;
  /** Bytes of the largest request. */
  largest(): number;
  close(): Promise<void>;
}

/** Listens on a port that was free, and maybe silent, until now. */
export async function startDigestReceiver(port: number): Promise<DigestReceiver> {
  const digests = new Map<string, string>();
  let held = Infinity;
  let [repeated, altered, largest] = [0, 0, 0];
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    // The sender was killed in mid-request.
    if (body === null || body.length !== Number(request.headers['content-length'])) return;
    largest = Math.max(largest, body.length);
    for (const span of spansOf(body)) {
      const spanId = readMessage(span).hex(2);
      const digest = createHash('sha256').update(span).digest('base64');
      const known = digests.get(spanId);
      if (known === undefined) digests.set(spanId, digest);
      else {
        repeated += 1;
        if (known !== digest) altered += 1;
      }
    }
    if (digests.size < held) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans: () => digests.size,
    has: (spanId) => digests.has(spanId),
    holdAt: (spans) => void (held = spans),
    repeated: () => repeated,
    altered: () => altered,
    largest: () => largest,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Each span as its bytes. ExportTraceServiceRequest: resource_spans 1 { scope_spans 2 { spans 2 } }. */
function spansOf(body: Uint8Array): Uint8Array[] {
  return readMessage(body)
    .messages(1)
    .flatMap((resource) => resource.messages(2))
    .flatMap((scope) => scope.all(2) as Uint8Array[]);
}
