import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readRetryDelay } from '../../../../collector/sinks/otlp/retry-info.ts';

it('of any bytes is a number or null', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const delay = readRetryDelay(bytes);
      expect(delay === null || delay >= 0).toBe(true);
    }),
  );
});
