import type { ErrorCode } from '../schemas/errors.ts';
import { GatewatchError } from '../schemas/errors.ts';

/**
 * An error of the store. `message` names the operation and ClickHouse's code, never a row, value or
 * statement.
 */
export class StoreError extends GatewatchError {
  /** ClickHouse's number of the error, e.g. 691; null when the store gave no answer. */
  readonly clickhouseCode: number | null;
  /** ClickHouse's name of the error, e.g. `UNKNOWN_ELEMENT_OF_ENUM`. */
  readonly clickhouseType: string | null;
  /** True when the statement may have been executed although no answer came. */
  readonly ambiguous: boolean;

  constructor(message: string, options: StoreErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.clickhouseCode = options.clickhouseCode ?? null;
    this.clickhouseType = options.clickhouseType ?? null;
    this.ambiguous = options.ambiguous ?? false;
  }
}

export interface StoreErrorOptions {
  code: ErrorCode;
  retryable: boolean;
  clickhouseCode?: number | null;
  clickhouseType?: string | null;
  ambiguous?: boolean;
  cause?: unknown;
}

/** True when the rows are at fault, not the store: the same rows will be refused again. */
export function isDataError(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_rejected';
}

/** True for what ClickHouse answers when two processes create or alter the same thing at the same moment. */
export function isStatementRace(error: unknown): boolean {
  return (
    error instanceof StoreError && error.clickhouseCode !== null && RACE_ERRORS.has(error.clickhouseCode)
  );
}

const RACE_ERRORS: ReadonlySet<number> = new Set([
  57, // TABLE_ALREADY_EXISTS
  60, // UNKNOWN_TABLE: between dropping and creating in CREATE OR REPLACE
  82, // DATABASE_ALREADY_EXISTS
  107, // FILE_DOESNT_EXIST
  218, // TABLE_IS_DROPPED
  219, // DATABASE_NOT_EMPTY
  473, // DEADLOCK_AVOIDED
  517, // CANNOT_ASSIGN_ALTER: another ALTER is under way
]);

/**
 * ClickHouse errors that speak of the rows sent. 32 and 33 (input ended early) are not among them: what we
 * send is well formed, so an early end means that a connection was cut.
 */
const DATA_ERRORS: ReadonlySet<number> = new Set([
  6, // CANNOT_PARSE_TEXT
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  38, // CANNOT_PARSE_DATE
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  70, // CANNOT_CONVERT_TYPE
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  131, // TOO_LARGE_STRING_SIZE
  190, // SIZES_OF_ARRAYS_DONT_MATCH
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  407, // DECIMAL_OVERFLOW
  469, // VIOLATED_CONSTRAINT
  691, // UNKNOWN_ELEMENT_OF_ENUM
]);

/** The store is alive but cannot take it now. */
const BUSY_ERRORS: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE
  32, // ATTEMPT_TO_READ_AFTER_EOF
  33, // CANNOT_READ_ALL_DATA
  159, // TIMEOUT_EXCEEDED
  164, // READONLY: a replica that has lost ClickHouse Keeper
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  252, // TOO_MANY_PARTS
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  999, // KEEPER_EXCEPTION
]);

const FULL_ERRORS: ReadonlySet<number> = new Set([
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  243, // NOT_ENOUGH_SPACE
]);

/** Failures to connect: the statement certainly did not reach the store. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Sorts what the client threw. `operation` names the statement for people (`insert into
 * history_events_store`). Texts of ClickHouse are left out, since they quote values of rows.
 */
export function toStoreError(operation: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const server = readServerError(error);
  if (server !== null) return fromServer(operation, server.code, server.type);
  const code = readString(error, 'code');
  if (isTimeout(error)) {
    return new StoreError(`${operation}: the store did not answer in time`, {
      code: 'store_timeout',
      retryable: true,
      ambiguous: true,
    });
  }
  const what = code === null ? 'the connection to the store broke' : `no connection to the store (${code})`;
  return new StoreError(`${operation}: ${what}`, {
    code: 'store_unavailable',
    retryable: true,
    ambiguous: code === null || !NOT_CONNECTED.has(code),
    // Without a system error's code it may be an answer of the store that could not be read, and quote a row.
    ...(code === null ? {} : { cause: error }),
  });
}

function fromServer(operation: string, clickhouseCode: number, clickhouseType: string | null): StoreError {
  const name = `ClickHouse error ${clickhouseCode}${clickhouseType === null ? '' : ` ${clickhouseType}`}`;
  const known = { clickhouseCode, clickhouseType };
  if (DATA_ERRORS.has(clickhouseCode)) {
    return new StoreError(`${operation}: rows refused, ${name}`, {
      code: 'store_rejected',
      retryable: false,
      ...known,
    });
  }
  if (FULL_ERRORS.has(clickhouseCode)) {
    return new StoreError(`${operation}: the disk of the store is full, ${name}`, {
      code: 'store_full',
      retryable: true,
      ...known,
    });
  }
  if (BUSY_ERRORS.has(clickhouseCode)) {
    const ambiguous = clickhouseCode === 319 || clickhouseCode === 159;
    return new StoreError(`${operation}: the store is overloaded or shutting down, ${name}`, {
      code: 'store_busy',
      retryable: true,
      ambiguous,
      ...known,
    });
  }
  return new StoreError(`${operation}: refused by the store, ${name}`, {
    code: 'store_refused',
    retryable: false,
    ...known,
  });
}

/** ClickHouse's own errors carry a numeric code and, usually, a name; a proxy's page carries neither. */
function readServerError(error: unknown): { code: number; type: string | null } | null {
  const code = readString(error, 'code');
  if (code !== null && /^\d+$/.test(code)) return { code: Number(code), type: readString(error, 'type') };
  const inText = error instanceof Error ? /^Code: (\d+)\b/.exec(error.message) : null;
  if (inText?.[1] === undefined) return null;
  const type = /\(([A-Z][A-Z0-9_]{3,})\)/.exec((error as Error).message);
  return { code: Number(inText[1]), type: type?.[1] ?? null };
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'TimeoutError' ||
    readString(error, 'code') === 'ETIMEDOUT' ||
    error.message === 'Timeout error.'
  );
}

function readString(error: unknown, key: 'code' | 'type'): string | null {
  if (typeof error !== 'object' || error === null || !(key in error)) return null;
  const value = (error as Record<string, unknown>)[key];
  return typeof value === 'string' ? value : null;
}
