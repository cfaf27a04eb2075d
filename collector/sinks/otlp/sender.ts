import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanData } from '../../../schemas/span.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { createReadableSpans } from './readable-span.ts';

export interface OtlpSenderOptions {
  /** Version of gatewatch, as that of the instrumentation scope. */
  version: string;
  /**
   * Base address of an OTLP/HTTP receiver, e.g. `http://localhost:4318`. @default by `OTEL_EXPORTER_OTLP_*`
   */
  endpoint?: string;
  /** Sent with each request. @default by `OTEL_EXPORTER_OTLP_HEADERS` */
  headers?: Readonly<Record<string, string>>;
  /** One export with the exporter's own repetitions. @default by `OTEL_EXPORTER_OTLP_TIMEOUT`, else 10000 */
  timeoutMs?: number;
}

/** Sends spans somewhere. */
export interface SpanSender {
  /**
   * Resolves when the receiver has accepted all of them.
   * @throws GatewatchError `export_failed`; `export_refused` when no repetition of the same request can
   * succeed
   */
  send(spans: readonly SpanData[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Spans to an OTLP receiver, over HTTP as protobuf. TLS, compression and so on: the standard
 * `OTEL_EXPORTER_OTLP_*`.
 */
export function createOtlpSender(options: OtlpSenderOptions): SpanSender {
  const { version, endpoint, headers, timeoutMs } = options;
  const exporter = new OTLPTraceExporter({
    ...(endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs }),
  });
  const toReadable = createReadableSpans(version);

  return {
    send: (spans) =>
      new Promise((resolve, reject) => {
        exporter.export(spans.map(toReadable), ({ error, code }) =>
          code === 0 ? resolve() : reject(exportError(error)),
        );
      }),
    close: () => exporter.shutdown(),
  };
}

/** The receiver's answer is left out: it may quote what was sent. */
function exportError(error: unknown): GatewatchError {
  const status = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null;
  const isRefused = status !== null && REFUSALS.has(status);
  const what =
    status === null ? 'the OTLP receiver did not accept spans' : `the OTLP receiver answered ${status}`;
  return isRefused
    ? new GatewatchError(what, { code: 'export_refused', retryable: false })
    : new GatewatchError(what, { code: 'export_failed', retryable: true });
}

/**
 * Answers about the content of the request. A wrong credential or address is no refusal: the spans are still
 * wanted once somebody has corrected it.
 */
const REFUSALS: ReadonlySet<string> = new Set(['400', '413', '422']);
