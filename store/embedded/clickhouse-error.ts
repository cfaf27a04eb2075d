/**
 * Names of the ClickHouse error codes that the server raises itself; the engine brings its own text for all
 * others.
 */
const errorNames = {
  48: 'NOT_IMPLEMENTED',
  62: 'SYNTAX_ERROR',
  73: 'UNKNOWN_FORMAT',
  99: 'UNEXPECTED_END_OF_FILE',
  158: 'TOO_MANY_ROWS',
  159: 'TIMEOUT_EXCEEDED',
  164: 'READONLY',
  194: 'REQUIRED_PASSWORD',
  202: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  209: 'SOCKET_TIMEOUT',
  236: 'ABORTED',
  297: 'BAD_REQUEST_PARAMETER',
  354: 'CANNOT_DECOMPRESS',
  396: 'TOO_MANY_ROWS_OR_BYTES',
  457: 'BAD_QUERY_PARAMETER',
  497: 'ACCESS_DENIED',
  516: 'AUTHENTICATION_FAILED',
  1002: 'UNKNOWN_EXCEPTION',
} as const;
type OwnCode = keyof typeof errorNames;

const unauthorized = new Set([194]);
const forbidden = new Set([192, 193, 497, 516]);
const badRequest = new Set([
  6, 25, 26, 27, 33, 38, 41, 53, 56, 62, 69, 72, 99, 117, 168, 196, 297, 321, 354, 376, 427, 441, 456, 457,
  675, 676,
]);
const notFound = new Set([16, 46, 47, 50, 60, 63, 73, 81, 82, 111, 115, 511]);
const oneByOne: Readonly<Record<number, number>> = {
  48: 501,
  76: 503,
  159: 408,
  209: 503,
  223: 503,
  381: 411,
  236: 503,
};

/** An answer in ClickHouse's own terms: `Code: N. DB::Exception: text (NAME)`. */
export class ClickHouseError extends Error {
  /** ClickHouse's error code, sent as `X-ClickHouse-Exception-Code`. */
  readonly clickhouseCode: number;

  constructor(clickhouseCode: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ClickHouseError';
    this.clickhouseCode = clickhouseCode;
  }
}

/** An error the server raises itself, worded the way ClickHouse words it. */
export function clickhouseError(code: OwnCode, text: string): ClickHouseError {
  return new ClickHouseError(code, `Code: ${code}. DB::Exception: ${text} (${errorNames[code]})`);
}

/** Reads what the engine threw. The `cause` chain is not sent anywhere. */
export function fromEngineError(error: unknown): ClickHouseError {
  if (error instanceof ClickHouseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const match = /^Code: (\d+)\. /.exec(message);
  if (match === null) {
    return new ClickHouseError(1002, `Code: 1002. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`, {
      cause: error,
    });
  }
  return new ClickHouseError(Number(match[1]), unnest(message), { cause: error });
}

/** The status that a ClickHouse server sends with this error code. */
export function httpStatusOf(clickhouseCode: number): number {
  if (unauthorized.has(clickhouseCode)) return 401;
  if (forbidden.has(clickhouseCode)) return 403;
  if (badRequest.has(clickhouseCode)) return 400;
  if (notFound.has(clickhouseCode)) return 404;
  return oneByOne[clickhouseCode] ?? 500;
}

/**
 * Undoes what the way through a file adds to the engine's words: the code twice, `Code: 27. DB::Exception:
 * Code: 27. DB::Exception: ...`, and the name of a file that the client knows nothing of.
 */
function unnest(message: string): string {
  return withoutDoubledCode(message)
    .replace(/ ?\(in file\/uri [^)]*\)/g, '')
    .replace(/: While executing File(?=[:. ])/g, '')
    .replace(/: data for INSERT was parsed from file(?=[. ])/g, ': data for INSERT was parsed from query');
}

function withoutDoubledCode(message: string): string {
  const doubled = /^(Code: \d+\. DB::Exception: )\1(.*)$/s.exec(message);
  if (doubled === null) return message;
  return `${doubled[1]}${(doubled[2] ?? '').replace(/ \(([A-Z_]+)\) \(version [^)]*\)\. \(\1\)$/, ' ($1)')}`;
}
