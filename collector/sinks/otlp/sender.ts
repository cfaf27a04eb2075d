import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { SpanData } from '../../../schemas/span.ts';
import type { OtlpProtocol } from '../../telemetry/otel-env.ts';
import { createGrpcTransport } from './grpc-transport.ts';
import { createHttpTransport } from './http-transport.ts';
import { createReadableSpans } from './readable-span.ts';
import { ExportError, type SpanTransport, type TransportOptions } from './transport.ts';

export interface OtlpSenderOptions extends TransportOptions {
  /** Version of gatewatch, as that of the instrumentation scope. */
  version: string;
  /** @default 'http/protobuf' */
  protocol?: OtlpProtocol;
}

/** Sends spans somewhere. */
export interface SpanSender {
  /**
   * One attempt. Resolves with the number of spans that the receiver rejects although it has taken the
   * request: those must not be sent again (OTLP, partial success).
   * @throws ExportError `export_failed`; `export_refused` when no repetition of the same request can succeed
   */
  send(spans: readonly SpanData[]): Promise<{ readonly rejected: number }>;
  close(): Promise<void>;
}

/** Spans to an OTLP receiver. Address, TLS, compression and so on: the standard `OTEL_EXPORTER_OTLP_*`. */
export function createOtlpSender(options: OtlpSenderOptions): SpanSender {
  const { version, protocol = 'http/protobuf' } = options;
  const serializer = protocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const toReadable = createReadableSpans(version);
  const transport = createTransport(protocol, options);

  return {
    async send(spans) {
      const request = serializer.serializeRequest(spans.map(toReadable));
      // The library's type allows for it; it never happens.
      if (request === undefined) throw new ExportError('spans cannot be encoded', { code: 'export_refused' });
      const answer = await transport.post(request).catch((error: unknown) => {
        throw spans.length === 1 ? offeredAgain(error) : error;
      });
      return { rejected: countRejected(() => serializer.deserializeResponse(answer)) };
    },
    close: async () => transport.close(),
  };
}

function createTransport(protocol: OtlpProtocol, options: TransportOptions): SpanTransport {
  switch (protocol) {
    case 'grpc':
      return createGrpcTransport(options);
    case 'http/json':
      return createHttpTransport({ ...options, contentType: 'application/json' });
    case 'http/protobuf':
      return createHttpTransport({ ...options, contentType: 'application/x-protobuf' });
  }
}

/** A request of one span cannot be made smaller. */
function offeredAgain(error: unknown): unknown {
  if (!(error instanceof ExportError) || !error.isPerhapsBusy) return error;
  return new ExportError(error.message, { code: 'export_failed', cause: error });
}

/** An answer that says nothing readable is the answer of a receiver that took all. */
function countRejected(read: () => Response): number {
  try {
    return Math.max(0, Number(read().partialSuccess?.rejectedSpans ?? 0));
  } catch {
    return 0;
  }
}

type Response = ReturnType<typeof ProtobufTraceSerializer.deserializeResponse>;
