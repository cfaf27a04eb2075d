import { promisify } from 'node:util';
import { gzip as gzipCallback, unzip as unzipCallback, zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';
import { compress, uncompress } from 'snappy';
import { lz4Size } from './lz4-size.ts';
import { BatchTooLarge, MAX_UNPACKED_BYTES } from './unreadable-batch.ts';

// kafkajs is CommonJS, and Node does not detect these two among its exports.
const { CompressionCodecs, CompressionTypes } = kafkajs;

const zstd = promisify(zstdCompress);
const unzstd = promisify(zstdDecompress);
const gzip = promisify(gzipCallback);
const unzip = promisify(unzipCallback);
const BOUND = { maxOutputLength: MAX_UNPACKED_BYTES };
let registered = false;

/** What kafkajs hands to a codec: the encoder holds the uncompressed records. */
interface Encoder {
  readonly buffer: Buffer;
}

/**
 * Registers the codecs that kafkajs lacks, and a gzip with a limit: 32 kB of any of them can unpack to a
 * gigabyte. Beyond MAX_UNPACKED_BYTES a batch is refused with BatchTooLarge. Safe to call again.
 */
export function registerCodecs(): void {
  if (registered) return;
  registered = true;
  CompressionCodecs[CompressionTypes.GZIP] = () => ({
    compress: (encoder: Encoder) => gzip(encoder.buffer),
    decompress: (buffer: Buffer) => unzip(buffer, BOUND).catch(asTooLarge),
  });
  CompressionCodecs[CompressionTypes.Snappy] = () => ({
    compress: async (encoder: Encoder) => frameXerial(await compress(encoder.buffer)),
    decompress: unsnappy,
  });
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: (encoder: Encoder) => compressFrame(encoder.buffer),
    decompress: unlz4,
  });
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: (encoder: Encoder) => zstd(encoder.buffer),
    decompress: (buffer: Buffer) => unzstd(buffer, BOUND).catch(asTooLarge),
  });
}

/*
 * Java clients write snappy in the frames of the xerial library, librdkafka as one bare block:
 * Stream => Magic Version Compatible Block*      Magic => 0x82 'SNAPPY' 0x00    Version, Compatible => Int32
 *   Block  => Length Bytes                         Length => Int32, of the snappy block that follows
 */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** Translates zlib's error about its limit. */
function asTooLarge(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new BatchTooLarge();
  throw error;
}

async function unlz4(buffer: Buffer): Promise<Buffer> {
  if (lz4Size(buffer, MAX_UNPACKED_BYTES) > MAX_UNPACKED_BYTES) throw new BatchTooLarge();
  return decompressFrame(buffer);
}

/** Reads both forms of snappy. */
export async function unsnappy(buffer: Buffer): Promise<Buffer> {
  if (!buffer.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return uncompressBlocks([buffer]);
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < buffer.length;) {
    const length = buffer.readInt32BE(at);
    at += 4;
    if (length <= 0 || at + length > buffer.length) throw new RangeError('A snappy frame is cut off');
    blocks.push(buffer.subarray(at, at + length));
    at += length;
  }
  return uncompressBlocks(blocks);
}

function frameXerial(block: Buffer): Buffer {
  const header = Buffer.alloc(XERIAL_HEADER_BYTES + 4);
  XERIAL_MAGIC.copy(header);
  header.writeInt32BE(1, 8);
  header.writeInt32BE(1, 12);
  header.writeInt32BE(block.length, XERIAL_HEADER_BYTES);
  return Buffer.concat([header, block]);
}

/**
 * A block begins with its unpacked length; the library allocates that much and verifies it.
 */
async function uncompressBlocks(blocks: readonly Buffer[]): Promise<Buffer> {
  const size = blocks.reduce((sum, block) => sum + snappySize(block), 0);
  if (size > MAX_UNPACKED_BYTES) throw new BatchTooLarge();
  const unpacked = blocks.map((block) => uncompress(block, { asBuffer: true }) as Promise<Buffer>);
  return Buffer.concat(await Promise.all(unpacked));
}

function snappySize(block: Buffer): number {
  let size = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = block[index] ?? 0;
    size += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return size;
  }
  throw new RangeError('No snappy block');
}
