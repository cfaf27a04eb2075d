import { describe, expect, it } from 'vitest';
import { isBehind } from '../../../collector/runtime/admission.ts';
import type { SinkStatus } from '../../../collector/sinks/port.ts';

const OK: SinkStatus = {
  state: 'ok',
  backlogRows: 0,
  inFlight: 0,
  lastAckAt: null,
  retries: 0,
  ambiguous: 0,
  lastError: null,
};

describe('a store that others wait for', () => {
  it('is behind while it is away, and while more rows wait than a batch holds', () => {
    expect(isBehind(OK, 10_000)).toBe(false);
    expect(isBehind({ ...OK, backlogRows: 10_000, inFlight: 1 }, 10_000)).toBe(false);
    expect(isBehind({ ...OK, backlogRows: 10_001, inFlight: 1 }, 10_000)).toBe(true);
    expect(isBehind({ ...OK, state: 'retrying', lastError: 'no answer' }, 10_000)).toBe(true);
  });
});
