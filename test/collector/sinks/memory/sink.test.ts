import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../../collector/sinks/memory/sink.ts';

describe('the status of a sink in memory', () => {
  const bundle = { polls: [{}, {}] } as never;

  it('is well while nothing is kept waiting', () => {
    expect(statusOf({ held: true, waiting: [], lastAckAt: 5 }, 9)).toMatchObject({
      state: 'ok',
      backlogRows: 0,
      stalledMs: null,
      lastAckAt: 5,
      lastError: null,
    });
  });

  it('says how many rows wait, and for how long the oldest has', () => {
    const waiting = [
      { bundle, since: 1_000_000 },
      { bundle, since: 2_000_000 },
    ];
    expect(statusOf({ held: true, waiting, lastAckAt: null }, 3_000_000)).toMatchObject({
      state: 'retrying',
      backlogRows: 4,
      stalledMs: 2000,
      lastError: 'held',
    });
  });
});
