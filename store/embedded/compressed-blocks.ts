import { Transform } from 'node:stream';
import { compressSync } from 'lz4-napi';
import { cityHash128 } from './city-hash.ts';

/** Of uncompressed bytes: what ClickHouse itself puts into a block at least. */
const BLOCK_BYTES = 65_536;
const LZ4 = 0x82;
const CHECKSUM_BYTES = 16;
const HEAD_BYTES = 9;
/** The library puts the length of the content first. */
const LENGTH_BYTES = 4;

/**
 * Packs a result as `compress=1` asks, which JDBC does. A stream of blocks, numbers little-endian:
 *
 *   checksum (16)   CityHash128 of all that follows in the block
 *   method (1)      0x82: LZ4
 *   size (4)        of method, sizes and content
 *   unpacked (4)    size of the content, unpacked
 *   content
 */
export function packBlocks(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += BLOCK_BYTES)
        this.push(packBlock(chunk.subarray(at, at + BLOCK_BYTES)));
      done();
    },
  });
}

export function packBlock(content: Buffer): Buffer {
  const packed = compressSync(content).subarray(LENGTH_BYTES);
  const block = Buffer.alloc(CHECKSUM_BYTES + HEAD_BYTES + packed.length);
  const checked = block.subarray(CHECKSUM_BYTES);
  checked.writeUInt8(LZ4);
  checked.writeUInt32LE(HEAD_BYTES + packed.length, 1);
  checked.writeUInt32LE(content.length, 5);
  checked.set(packed, HEAD_BYTES);
  const [low, high] = cityHash128(checked);
  block.writeBigUInt64LE(low);
  block.writeBigUInt64LE(high, 8);
  return block;
}
