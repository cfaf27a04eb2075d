import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { clickhouseError, type ClickHouseError } from '../clickhouse-error.ts';
import { decodeLz4Frames } from '../lz4-frame.ts';
import { MAX_BODY_BYTES, tooLong } from './bounds.ts';

/** Bounds what blocks can claim together, before any is unpacked: 255 times as much. */
const MAX_LZ4_BYTES = 65_536;

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const;

/**
 * Unpacks the body of a reader's request, to at most `MAX_BODY_BYTES`.
 *
 * @throws ClickHouseError 48 for an encoding that is not known, 354 for one that is not followed, 62 for too
 *   long a body
 */
export async function unpack(body: Uint8Array, contentEncoding: string): Promise<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase();
  const packed = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (encoding === '' || encoding === 'identity') return packed;
  if (encoding === 'lz4') return unpackLz4(packed);
  const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding as keyof typeof decoders] : undefined;
  if (decode === undefined) throw clickhouseError(48, `Unknown Content-Encoding: ${printable(encoding)}`);
  try {
    return await decode(packed, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLong() : broken(encoding);
  }
}

async function unpackLz4(packed: Buffer): Promise<Buffer> {
  if (packed.length > MAX_LZ4_BYTES) throw tooLong();
  const blocks: Buffer[] = [];
  let size = 0;
  for await (const block of decodeLz4Frames(Readable.from([packed]))) {
    size += block.length;
    if (size > MAX_BODY_BYTES) throw tooLong();
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

const broken = (encoding: string): ClickHouseError =>
  clickhouseError(354, `Cannot decompress the request body: it is no ${encoding}.`);

const printable = (text: string): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, 32);
