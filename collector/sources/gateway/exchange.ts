import type { Dispatcher } from 'undici';

/** One GET request. */
export interface ExchangeRequest {
  /** `https://host:port`. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** One deadline over waiting for a connection, headers and body. */
  readonly deadlineMs: number;
  /** A body with more bytes is not read to its end. */
  readonly maxBytes: number;
}

/** A reply, or what there was of it when it ended. */
export interface RawReply {
  /** null: no headers came. */
  readonly httpStatus: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: readonly Buffer[];
  readonly bodyBytes: number;
  readonly end: 'complete' | 'too_large' | 'timeout' | 'failed';
  /** Set when the end is `failed`. */
  readonly error: unknown;
}

/**
 * Makes a request and reads the reply. Never rejects. Takes the reply's parts as the connection hands them
 * out: a stream, its iterator and an abort signal for each reply cost as much again as all the rest. A reply
 * that is left before its end closes its connection.
 */
export function exchange(pool: Dispatcher, request: ExchangeRequest): Promise<RawReply> {
  const { origin, path, headers, deadlineMs, maxBytes } = request;
  const body: Buffer[] = [];
  let bodyBytes = 0;
  let httpStatus: number | null = null;
  let replyHeaders: RawReply['headers'] = {};
  let ended = false;
  let abort: ((reason: Error) => void) | null = null;
  return new Promise((resolve) => {
    const timer = setTimeout(() => leave('timeout'), deadlineMs);

    function settle(end: RawReply['end'], error: unknown = null): void {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      resolve({ httpStatus, headers: replyHeaders, body, bodyBytes, end, error });
    }
    function leave(end: 'timeout' | 'too_large'): void {
      settle(end);
      abort?.(new Error(end));
    }

    pool.dispatch(
      { origin, method: 'GET', path, headers },
      {
        onRequestStart(controller) {
          abort = (reason) => controller.abort(reason);
          // The deadline passed before there was a connection.
          if (ended) abort(new Error('timeout'));
        },
        onResponseStart(_controller, statusCode, received) {
          // Early hints and their like come before the reply.
          if (statusCode < 200) return;
          httpStatus = statusCode;
          replyHeaders = received;
        },
        onResponseData(_controller, chunk) {
          bodyBytes += chunk.byteLength;
          if (bodyBytes > maxBytes) leave('too_large');
          else body.push(chunk);
        },
        onResponseEnd: () => settle('complete'),
        onResponseError: (_controller, error) => settle('failed', error),
      },
    );
  });
}
