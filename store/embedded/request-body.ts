import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { clickhouseError } from './clickhouse-error.ts';
import { decodeLz4Frames } from './lz4-frame.ts';
import { isForm, readFields, type Fields } from './reader/form.ts';

/** Largest statement (without the rows of an insert) that is read. */
export const maxStatementBytes = 16 * 1024 * 1024;

/** The body as the client meant it, unpacked. */
export function openBody(request: IncomingMessage): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return request;
  if (encoding === 'lz4') return Readable.from(decodeLz4Frames(request), { objectMode: false });
  const decoder = createDecoder(encoding);
  if (decoder === null) throw clickhouseError(48, `Unknown Content-Encoding: ${encoding.slice(0, 32)}`);
  return Readable.from(decode(request, decoder), { objectMode: false });
}

async function* decode(request: IncomingMessage, decoder: Transform): AsyncGenerator<Buffer, void> {
  // A request that is cut off fails here as such; only the rest is the encoding's fault.
  const cut = pipeline(request, decoder).then(
    () => null,
    (error: unknown) => error,
  );
  try {
    yield* decoder as AsyncIterable<Buffer>;
  } catch (error) {
    await cut;
    if (!request.complete) throw error;
    throw clickhouseError(354, `Cannot decompress the request body: ${(error as Error).message}`);
  }
}

/** Reads all of a body that holds a statement. */
export async function readStatement(stream: Readable): Promise<string> {
  const { head, rest } = await readHead(stream, maxStatementBytes);
  if (rest !== null) {
    throw clickhouseError(
      62,
      `Max query size exceeded: the statement is longer than ${maxStatementBytes} bytes.`,
    );
  }
  return head.toString('utf8');
}

/**
 * Reads the first `limit` bytes or a little more.
 *
 * @returns `rest`: the unread remainder, or `null` when `head` is everything
 */
export async function readHead(
  stream: Readable,
  limit: number,
): Promise<{ head: Buffer; rest: Readable | null }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const iterator = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return { head: Buffer.concat(chunks), rest: null };
    chunks.push(next.value);
    size += next.value.length;
    if (size >= limit) break;
  }
  await iterator.return?.();
  return { head: Buffer.concat(chunks), rest: stream };
}

/** A request whose parameters came as a form, or any other with its body untouched. */
export interface RequestForm {
  readonly fields: Fields;
  readonly body: Readable;
}

/**
 * Reads `multipart/form-data`, in which clients send parameters too long for a URL. Other bodies pass
 * through.
 */
export async function readForm(request: IncomingMessage, body: Readable): Promise<RequestForm> {
  const contentType = request.headers['content-type'] ?? '';
  if (!isForm(contentType)) return { fields: [], body };
  const { head, rest } = await readHead(body, maxStatementBytes);
  if (rest !== null) throw clickhouseError(297, `The form is longer than ${maxStatementBytes} bytes.`);
  const fields = await readFields(head, contentType);
  return { fields, body: Readable.from([], { objectMode: false }) };
}

function createDecoder(encoding: string): Transform | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  if (encoding === 'br') return createBrotliDecompress();
  return encoding === 'zstd' ? createZstdDecompress() : null;
}
