/**
 * Every code that an error thrown by the collector can carry. Callers branch on `code` and `retryable`,
 * never on `message`. Append only: codes are part of logs and of what users search for.
 */
const ERROR_CODES = [
  'config_invalid',
  'usage',
  'internal',
  // Kafka
  'kafka_unreachable',
  'kafka_auth_failed',
  'kafka_not_authorized',
  'kafka_topic_missing',
  'kafka_message_too_large',
  'kafka_timeout',
  'kafka_protocol',
  'kafka_stopped',
  // The store
  'store_unavailable',
  'store_timeout',
  'store_rejected',
  'store_refused',
  'store_busy',
  'store_full',
  'store_locked',
  'store_schema',
  // The embedded engine
  'embedded_unavailable',
  'embedded_crashed',
  'embedded_locked',
  // The gateway and other HTTP peers
  'http_listen_failed',
  'gateway_unreachable',
  'export_failed',
  'export_refused',
  'stopped',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface GatewatchErrorOptions {
  code: ErrorCode;
  /** True when the same operation may succeed later without anyone changing anything. @default false */
  retryable?: boolean;
  cause?: unknown;
}

/**
 * A broken system, as opposed to bad data (which is a value with a reason). `message` is for people: it names
 * the address or file and what to do, and never carries a secret or a payload.
 */
export class GatewatchError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(message: string, options: GatewatchErrorOptions) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'GatewatchError';
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }
}

/**
 * True for errors that say of themselves that trying again can help; anything else is taken for permanent.
 */
export function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true;
}
