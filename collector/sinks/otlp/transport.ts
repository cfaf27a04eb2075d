import type { ErrorCode } from '../../../schemas/errors.ts';
import { GatewatchError } from '../../../schemas/errors.ts';

/** Takes encoded requests to an OTLP receiver: one attempt each, repetitions are the exporter's. */
export interface SpanTransport {
  /**
   * Resolves with the receiver's answer, an encoded ExportTraceServiceResponse.
   * @throws ExportError `export_failed`; `export_refused` when no repetition of the same request can succeed
   */
  post(request: Uint8Array): Promise<Uint8Array>;
  close(): void;
}

export interface TransportOptions {
  /** Base address of the receiver. @default by `OTEL_EXPORTER_OTLP_*` */
  readonly endpoint?: string;
  /** Sent with each request. @default by `OTEL_EXPORTER_OTLP_*` */
  readonly headers?: Readonly<Record<string, string>>;
  /** For one attempt, connecting included. @default by `OTEL_EXPORTER_OTLP_*`, else 10000 */
  readonly timeoutMs?: number;
}

/** The receiver did not take a request. Its words are left out: they may quote what was sent. */
export class ExportError extends GatewatchError {
  /** How long the receiver asks us to wait; null: it does not say. */
  readonly retryAfterMs: number | null;
  /**
   * The request may be too large, or the receiver too busy: a smaller one is worth a try, and one that cannot
   * be smaller is offered again.
   */
  readonly isPerhapsBusy: boolean;

  constructor(message: string, options: ExportErrorOptions) {
    const { retryAfterMs = null, isPerhapsBusy = false, ...rest } = options;
    super(message, { ...rest, retryable: options.code !== 'export_refused' });
    this.retryAfterMs = retryAfterMs;
    this.isPerhapsBusy = isPerhapsBusy;
  }
}

interface ExportErrorOptions {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number | null;
  readonly isPerhapsBusy?: boolean;
  readonly cause?: unknown;
}

/** An answer of a receiver is a few bytes; what is larger is none. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** A receiver can ask for a pause, but not for an end. */
const MAX_RETRY_AFTER_MS = 300_000;

/** The pause that a failed request asks for; 0: none. */
export function retryAfterMs(error: unknown): number {
  return error instanceof ExportError ? Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
}

export const unreachable = (cause: unknown): ExportError => {
  const code =
    typeof cause === 'object' && cause !== null && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new ExportError(`the OTLP receiver did not answer${code}`, { code: 'export_failed', cause });
};
