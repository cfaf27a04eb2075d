import {
  array,
  asyncProperty,
  assert,
  boolean,
  integer,
  property,
  record,
  tuple,
  uint8Array,
} from 'fast-check';
import { compressFrame } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { lz4Size } from '../../../../collector/sources/kafka/lz4-size.ts';

/**
 * Runs of repeated bytes among others, so that frames hold short and long matches, and blocks stored as they
 * are.
 */
const contents = array(tuple(uint8Array({ maxLength: 400 }), integer({ min: 1, max: 2000 })), {
  maxLength: 20,
}).map((runs) =>
  Buffer.concat(runs.flatMap(([bytes, times]) => Array.from({ length: times }, () => Buffer.from(bytes)))),
);

describe('the size of LZ4 frames', () => {
  it('is what they unpack to, with checksums and without, one frame or two', async () => {
    await assert(
      asyncProperty(
        contents,
        contents,
        record({ contentChecksum: boolean(), blockChecksums: boolean() }),
        async (first, second, options) => {
          const frames = Buffer.concat([
            await compressFrame(first, options),
            await compressFrame(second, options),
          ]);
          expect(lz4Size(frames, Number.POSITIVE_INFINITY)).toBe(first.length + second.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is a number or a refusal for any bytes', () => {
    const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
    assert(
      property(uint8Array({ maxLength: 300 }), boolean(), (bytes, isFrame) => {
        const input = isFrame ? Buffer.concat([header, bytes]) : Buffer.from(bytes);
        try {
          expect(lz4Size(input, 1 << 20)).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
