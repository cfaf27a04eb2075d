const MAGIC = 0x184d2204;
const STORED = 0x80000000;
/** Flags of a frame's first byte. */
const FLAG = { dictionary: 1, contentChecksum: 4, contentSize: 8, blockChecksums: 16 };

/**
 * How many bytes LZ4 frames unpack to, without unpacking them: what a frame says of its size need not be
 * true.
 *
 * frame    => magic, flags, block size, [content size 8], header checksum 1, block*, end mark (0), [checksum
 * 4]
 *   block    => size 4 (highest bit: stored as it is), sequence*, [checksum 4]
 *   sequence => token (4 bits literals, 4 bits match), [more length], literals, offset 2, [more length]
 *
 * The last sequence of a block ends behind its literals.
 *
 * @throws RangeError for anything else; stops counting beyond `limit`
 */
export function lz4Size(frames: Buffer, limit: number): number {
  let size = 0;
  for (let at = 0; at < frames.length;) {
    if (frames.readUInt32LE(at) !== MAGIC) throw new RangeError('No LZ4 frame');
    const flags = frames.readUInt8(at + 4);
    if ((flags & FLAG.dictionary) !== 0) throw new RangeError('An LZ4 frame with a dictionary');
    at += (flags & FLAG.contentSize) === 0 ? 7 : 15;
    for (;;) {
      const head = frames.readUInt32LE(at);
      at += 4;
      if (head === 0) break;
      const length = head & 0x7fffffff;
      if (at + length > frames.length) throw new RangeError('An LZ4 block is cut off');
      size += head >= STORED ? length : blockSize(frames, at, at + length);
      if (size > limit) return size;
      at += length + ((flags & FLAG.blockChecksums) === 0 ? 0 : 4);
    }
    if ((flags & FLAG.contentChecksum) !== 0) at += 4;
  }
  return size;
}

function blockSize(bytes: Buffer, from: number, end: number): number {
  let size = 0;
  let at = from;
  const more = (nibble: number): number => {
    if (nibble < 15) return nibble;
    let length = nibble;
    for (let byte = 255; byte === 255 && at < end; at += 1) length += byte = bytes[at] as number;
    return length;
  };
  while (at < end) {
    const token = bytes[at] as number;
    at += 1;
    const literals = more(token >> 4);
    at += literals;
    size += literals;
    if (at >= end) break;
    at += 2;
    size += more(token & 15) + 4;
  }
  if (at > end) throw new RangeError('An LZ4 sequence is cut off');
  return size;
}
