import { clickhouseError } from './clickhouse-error.ts';

const magic = 0x184d2204;
const windowSize = 65_536;

/**
 * Unpacks a body of LZ4 frames, one behind the other, block by block. Node has no LZ4, and Python's client
 * compresses with nothing else.
 *
 * frame   magic, flags, block size, [content size 8], [dictionary 4], header checksum 1, blocks, end mark,
 * [checksum 4]
 *   block   size 4 (highest bit: stored as it is; 0: end mark), data, [checksum 4]
 *
 * Checksums are passed over: the connection has its own.
 *
 * @throws ClickHouseError 354 for anything else
 */
export async function* decodeLz4Frames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const input = createReader(source);
  for (;;) {
    if (await input.ended()) return;
    const kind = (await input.read(4)).readUInt32LE();
    if (kind >= 0x184d2a50 && kind <= 0x184d2a5f) {
      await input.skip((await input.read(4)).readUInt32LE());
      continue;
    }
    if (kind !== magic) throw broken('no LZ4 frame');
    const [flags = 0, sizes = 0] = await input.read(2);
    if (flags >> 6 !== 1) throw broken('unknown version');
    if ((flags & 1) !== 0) throw broken('a dictionary is not supported');
    await input.read(((flags & 8) === 0 ? 0 : 8) + 1);
    const blockSize = 2 ** (8 + 2 * ((sizes >> 4) & 7));
    const linked = (flags & 32) === 0;
    let window: Buffer = Buffer.alloc(0);
    for (;;) {
      const head = (await input.read(4)).readUInt32LE();
      if (head === 0) break;
      const length = head & 0x7fffffff;
      if (length > blockSize + 64) throw broken('a block is too large');
      const data = await input.read(length);
      if ((flags & 16) !== 0) await input.read(4);
      const block = head >= 0x80000000 ? data : decodeBlock(data, window, blockSize);
      if (linked) window = Buffer.concat([window, block]).subarray(-windowSize);
      yield block;
    }
    if ((flags & 4) !== 0) await input.read(4);
  }
}

/**
 * sequence: token (4 bits literals, 4 bits match), [more length], literals, offset 2, [more length]; the last
 * one ends behind its literals.
 */
function decodeBlock(data: Buffer, window: Buffer, blockSize: number): Buffer {
  const out = Buffer.allocUnsafe(window.length + blockSize);
  window.copy(out);
  let to = window.length;
  let at = 0;
  const lengthOf = (nibble: number): number => {
    let length = nibble;
    if (nibble !== 15) return length;
    for (let more = 255; more === 255; length += more) {
      if (at >= data.length) throw broken('a block ends too early');
      more = data[at++] ?? 0;
    }
    return length;
  };
  while (at < data.length) {
    const token = data[at++] ?? 0;
    const literals = lengthOf(token >> 4);
    if (at + literals > data.length || to + literals > out.length) throw broken('literals too long');
    data.copy(out, to, at, at + literals);
    at += literals;
    to += literals;
    if (at === data.length) break;
    if (at + 2 > data.length) throw broken('a block ends too early');
    const offset = data.readUInt16LE(at);
    at += 2;
    const length = lengthOf(token & 15) + 4;
    if (offset === 0 || offset > to || to + length > out.length) throw broken('a match out of range');
    if (offset >= length) out.copyWithin(to, to - offset, to - offset + length);
    else for (let i = 0; i < length; i++) out[to + i] = out[to - offset + i] ?? 0;
    to += length;
  }
  return out.subarray(window.length, to);
}

/**
 * Chunks are joined when a read wants them and not before: a body of many small chunks costs no more than one
 * of few.
 */
function createReader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]();
  let chunks: Buffer[] = [];
  let size = 0;

  async function more(): Promise<boolean> {
    const next = await iterator.next();
    if (next.done === true) return false;
    chunks.push(next.value);
    size += next.value.length;
    return true;
  }

  return {
    async ended(): Promise<boolean> {
      while (size === 0) if (!(await more())) return true;
      return false;
    },
    async read(wanted: number): Promise<Buffer> {
      while (size < wanted) if (!(await more())) throw broken('the body ends too early');
      const all = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      chunks = all.length === wanted ? [] : [all.subarray(wanted)];
      size -= wanted;
      return all.subarray(0, wanted);
    },
    /** Passes over bytes without holding them. */
    async skip(unwanted: number): Promise<void> {
      let left = unwanted;
      while (left > size) {
        left -= size;
        chunks = [];
        size = 0;
        if (!(await more())) throw broken('the body ends too early');
      }
      await this.read(left);
    },
  };
}

function broken(reason: string): Error {
  return clickhouseError(354, `Cannot decompress the request body: ${reason}`);
}
