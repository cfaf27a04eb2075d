import type { ServiceError } from '@grpc/grpc-js';
import { Client, compressionAlgorithms, Metadata, status } from '@grpc/grpc-js';
import { convertLegacyOtlpGrpcOptions } from '@opentelemetry/otlp-grpc-exporter-base';
import { readRetryDelay } from './retry-info.ts';
import type { SpanTransport, TransportOptions } from './transport.ts';
import { ExportError, MAX_ANSWER_BYTES } from './transport.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** OTLP over gRPC; the library reads the standard variables (see `http-transport.ts`). */
export function createGrpcTransport({ endpoint, headers, timeoutMs }: TransportOptions): SpanTransport {
  const settings = convertLegacyOtlpGrpcOptions(
    {
      ...(endpoint === undefined ? {} : { url: endpoint }),
      ...(headers === undefined ? {} : { metadata: metadataOf(headers) }),
      ...(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs }),
    },
    'TRACES',
  );
  const client = new Client(settings.url, settings.credentials(), {
    'grpc.default_compression_algorithm':
      settings.compression === 'gzip' ? compressionAlgorithms.gzip : compressionAlgorithms.identity,
    'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
    // Repetitions are the exporter's, and so are the pauses between them.
    'grpc.enable_retries': 0,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 10_000,
  });
  return {
    post: (request) =>
      new Promise((resolve, reject) => {
        const deadline = Date.now() + settings.timeoutMillis;
        const answer = (error: ServiceError | null, response?: Buffer): void =>
          error === null && response !== undefined ? resolve(response) : reject(exportError(error));
        const metadata = settings.metadata();
        client.makeUnaryRequest(METHOD, asIs, asIs, bufferOf(request), metadata, { deadline }, answer);
      }),
    close: () => client.close(),
  };
}

/** The same bytes, not a copy. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const asIs = (bytes: Buffer): Buffer => bytes;

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function exportError(error: ServiceError | null): ExportError {
  const code = error?.code ?? status.UNKNOWN;
  const wait = readWait(error);
  // One status for a request that is too large and for a receiver that is too busy: this one says how long.
  const isPerhapsBusy = code === status.RESOURCE_EXHAUSTED && wait === null;
  return new ExportError(`the OTLP receiver answered ${status[code] ?? code}`, {
    code: isPerhapsBusy || code === status.INVALID_ARGUMENT ? 'export_refused' : 'export_failed',
    retryAfterMs: wait,
    isPerhapsBusy,
  });
}

/** The pause that the receiver asks for among the details of its status, in milliseconds. */
function readWait(error: ServiceError | null): number | null {
  const [details] = error?.metadata?.get('grpc-status-details-bin') ?? [];
  return details instanceof Buffer ? readRetryDelay(details) : null;
}
