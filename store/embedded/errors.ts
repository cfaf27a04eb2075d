/** Codes of the errors that starting or running the embedded store can throw at its owner. */
export const embeddedStoreErrorCodes = [
  'CHDB_MISSING',
  'PORT_IN_USE',
  'DATA_DIR_LOCKED',
  'DATA_DIR_UNUSABLE',
  'DATA_CORRUPT',
  'START_FAILED',
  'START_TIMEOUT',
] as const;
export type EmbeddedStoreErrorCode = (typeof embeddedStoreErrorCodes)[number];

/** A broken embedded store: the message says what the user can do about it. */
export class EmbeddedStoreError extends Error {
  readonly code: EmbeddedStoreErrorCode;
  readonly retryable: boolean;

  constructor(
    code: EmbeddedStoreErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EmbeddedStoreError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
