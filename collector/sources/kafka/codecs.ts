import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';
import { compress, uncompress } from 'snappy';

// kafkajs is CommonJS and these two are not among the names Node can see in it.
const { CompressionCodecs, CompressionTypes } = kafkajs;

const zstd = promisify(zstdCompress);
const unzstd = promisify(zstdDecompress);

/** What kafkajs hands to a codec: the encoder holds the uncompressed records. */
interface Encoder {
  readonly buffer: Buffer;
}

/** Teaches kafkajs the codecs it lacks (gzip is built in). Safe to call again. */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => ({
    compress: async (encoder: Encoder) => frameXerial(await compress(encoder.buffer)),
    decompress: unsnappy,
  });
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: (encoder: Encoder) => compressFrame(encoder.buffer),
    decompress: (buffer: Buffer) => decompressFrame(buffer),
  });
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: (encoder: Encoder) => zstd(encoder.buffer),
    decompress: (buffer: Buffer) => unzstd(buffer),
  });
}

/*
 * Java clients write snappy in the frames of the xerial library, librdkafka as one bare block:
 *   Stream => Magic Version Compatible Block*      Magic => 0x82 'SNAPPY' 0x00    Version, Compatible => Int32
 *   Block  => Length Bytes                         Length => Int32, of the snappy block that follows
 */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** Reads both forms of snappy. */
export async function unsnappy(buffer: Buffer): Promise<Buffer> {
  if (!buffer.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return uncompressBlock(buffer);
  const blocks: Promise<Buffer>[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < buffer.length;) {
    const length = buffer.readInt32BE(at);
    at += 4;
    if (length < 0 || at + length > buffer.length) throw new RangeError('A snappy frame is cut off');
    blocks.push(uncompressBlock(buffer.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat(await Promise.all(blocks));
}

function frameXerial(block: Buffer): Buffer {
  const header = Buffer.alloc(XERIAL_HEADER_BYTES + 4);
  XERIAL_MAGIC.copy(header);
  header.writeInt32BE(1, 8);
  header.writeInt32BE(1, 12);
  header.writeInt32BE(block.length, XERIAL_HEADER_BYTES);
  return Buffer.concat([header, block]);
}

async function uncompressBlock(block: Buffer): Promise<Buffer> {
  return (await uncompress(block, { asBuffer: true })) as Buffer;
}
