import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { createDeflate, createGzip, createZstdCompress } from 'node:zlib';
import { packBlocks } from './compressed-blocks.ts';
import type { ClickHouseError } from './clickhouse-error.ts';
import { httpStatusOf } from './clickhouse-error.ts';
import { contentTypeOf } from './formats.ts';

/** Longest wait for a client that has stopped reading its result. */
const stalledClientMs = 60_000;

/** Counts for `X-ClickHouse-Summary`. */
export interface Summary {
  readonly readRows: number;
  readonly readBytes: number;
  readonly resultRows: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
  readonly elapsedSeconds: number;
}
export const emptySummary: Summary = {
  readRows: 0,
  readBytes: 0,
  resultRows: 0,
  writtenRows: 0,
  writtenBytes: 0,
  elapsedSeconds: 0,
};

export interface ResponseOptions {
  readonly format: string;
  readonly timezone: string;
  readonly compress: boolean;
  /** ClickHouse's own blocks, which no header of HTTP names. */
  readonly packBlocks: boolean;
}

/** One answer, in the order ClickHouse gives it: `begin`, any number of `write`, then `end` or `fail`. */
export interface Answer {
  readonly started: boolean;
  begin(options: ResponseOptions, summary: Summary): void;
  /** Resolves when the client can take more; rejects when it is gone or has stopped reading. */
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
  fail(error: ClickHouseError): Promise<void>;
}

export function createAnswer(request: IncomingMessage, response: ServerResponse): Answer {
  const out: Output = {
    request,
    response,
    tag: randomBytes(8).toString('hex'),
    sink: response,
    started: false,
  };
  return {
    get started() {
      return out.started;
    },
    begin: (options, summary) => begin(out, options, summary),
    write: (chunk) => write(out, chunk),
    end: () => end(out),
    fail: (error) => fail(out, error),
  };
}

/** Where an answer goes: the response, or the encoder in front of it. */
interface Output {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Marks an error behind rows that are sent already. */
  readonly tag: string;
  sink: Writable;
  started: boolean;
}

function begin(out: Output, options: ResponseOptions, summary: Summary): void {
  const { request, response, tag } = out;
  out.started = true;
  const mayEncode = options.compress && !options.packBlocks;
  const encoding = mayEncode ? chooseEncoding(request.headers['accept-encoding']) : null;
  response.statusCode = 200;
  response.setHeader('Content-Type', contentTypeOf(options.format));
  response.setHeader('X-ClickHouse-Format', options.format);
  response.setHeader('X-ClickHouse-Timezone', options.timezone);
  response.setHeader('X-ClickHouse-Exception-Tag', tag);
  response.setHeader('X-ClickHouse-Summary', JSON.stringify(summaryFields(summary)));
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  else if (!options.packBlocks) return;
  const sink = encoding === null ? packBlocks() : createEncoder(encoding);
  sink.on('error', () => response.destroy());
  response.on('close', () => sink.destroy());
  sink.pipe(response);
  out.sink = sink;
}

async function write({ response, sink }: Output, chunk: Uint8Array): Promise<void> {
  if (response.destroyed) throw new Error('The client has gone.');
  if (chunk.length === 0 || sink.write(chunk)) return;
  const stalled = AbortSignal.timeout(stalledClientMs);
  const gone = new AbortController();
  const onClose = () => gone.abort();
  response.once('close', onClose);
  try {
    await once(sink, 'drain', { signal: AbortSignal.any([stalled, gone.signal]) });
  } finally {
    response.off('close', onClose);
  }
}

async function end({ response, sink }: Output): Promise<void> {
  if (response.destroyed) return;
  sink.end();
  if (!response.closed) await once(response, 'close').catch(() => undefined);
}

async function fail(out: Output, error: ClickHouseError): Promise<void> {
  const { request, response } = out;
  if (response.destroyed) return;
  if (out.started) return failMidway(out, error);
  response.removeHeader('X-ClickHouse-Format');
  response.statusCode = httpStatusOf(error.clickhouseCode);
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Exception-Code', String(error.clickhouseCode));
  if (response.statusCode === 401) {
    response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  }
  // What the client still sends is not read any more.
  if (!request.complete) response.setHeader('Connection', 'close');
  response.end(`${error.message}\n`);
}

/**
 * The status is sent already: the text goes behind the rows, in the frame that clients look for,
 *
 *   \r\n__exception__\r\n<tag>\r\n<message>\n<length of message and newline> <tag>\r\n__exception__\r\n
 *
 * and the transfer is cut, so that nobody takes it for complete.
 */
async function failMidway({ response, sink, tag }: Output, error: ClickHouseError): Promise<void> {
  const message = `${error.message}\n`;
  const marker = '__exception__';
  sink.write(`\r\n${marker}\r\n${tag}\r\n${message}${Buffer.byteLength(message)} ${tag}\r\n${marker}\r\n`);
  if (sink === response) {
    await new Promise<void>((flushed) => response.write('', () => flushed()));
  } else {
    (sink as NodeJS.ReadWriteStream & Writable).unpipe(response);
    sink.end();
    for await (const chunk of sink as unknown as AsyncIterable<Buffer>) response.write(chunk);
  }
  response.socket?.end();
}

function summaryFields(summary: Summary): Record<string, string> {
  return {
    read_rows: String(summary.readRows),
    read_bytes: String(summary.readBytes),
    written_rows: String(summary.writtenRows),
    written_bytes: String(summary.writtenBytes),
    total_rows_to_read: '0',
    result_rows: String(summary.resultRows),
    result_bytes: '0',
    elapsed_ns: String(Math.round(summary.elapsedSeconds * 1e9)),
  };
}

type Encoding = 'gzip' | 'zstd' | 'deflate';

function chooseEncoding(accepted: string | string[] | undefined): Encoding | null {
  const offers = new Set<string>();
  for (const offer of String(accepted ?? '')
    .toLowerCase()
    .split(',')) {
    const [name = '', ...parameters] = offer.split(';').map((part) => part.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) offers.add(name);
  }
  return (['gzip', 'zstd', 'deflate'] as const).find((encoding) => offers.has(encoding)) ?? null;
}

function createEncoder(encoding: Encoding) {
  if (encoding === 'gzip') return createGzip({ level: 3 });
  return encoding === 'zstd' ? createZstdCompress() : createDeflate({ level: 3 });
}
