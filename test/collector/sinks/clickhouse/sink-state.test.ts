import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  batchSeqAfter,
  INITIAL_STATE,
  MANY_ROWS,
  nextState,
  nextStep,
  type SinkChange,
  type SinkState,
  stalledMs,
} from '../../../../collector/sinks/clickhouse/sink-state.ts';

const LIMITS = { maxBatchRows: 100, maxAgeMs: 250, quietAgeMs: 250 };
const NOTHING = { rows: 0, isEmpty: true, isAwaited: false };
const FEW = { rows: 1, isEmpty: false, isAwaited: false };
const FULL = { rows: 100, isEmpty: false, isAwaited: false };

const after = (...changes: SinkChange[]): SinkState => changes.reduce(nextState, INITIAL_STATE);
const OPENED: SinkChange = { type: 'recovered', lastSeq: 7 };
const STARTED: SinkChange = { type: 'started', nowMs: 1000, takes: 'all' };
const SEND = { do: 'send', takes: 'all' };
const step = (state: SinkState, waiting: typeof FEW, nowMs = 1000) => nextStep(state, waiting, LIMITS, nowMs);

describe('what a sink does next', () => {
  it('is to send rows at once while it is idle', () => {
    expect(step(INITIAL_STATE, FEW, 0)).toEqual(SEND);
    expect(step(INITIAL_STATE, NOTHING)).toEqual({ do: 'nothing' });
    expect(step(INITIAL_STATE, { ...NOTHING, isEmpty: false })).toEqual(SEND);
  });

  it('is to let rows gather while batches follow each other, until they are full or old enough', () => {
    const state = after(OPENED, STARTED, { type: 'ended' });
    expect(step(state, FEW, 1100)).toEqual({ do: 'wait', ms: 150 });
    expect(step(state, FULL, 1100)).toEqual(SEND);
    expect(step(state, FEW, 1250)).toEqual(SEND);
  });

  it('is to freeze one more full batch while one is under way, and never to send two', () => {
    const state = after(OPENED, STARTED);
    expect(step(state, FEW)).toEqual({ do: 'nothing' });
    expect(step(state, FULL)).toEqual({ do: 'prepare' });
    const prepared = nextState(state, { type: 'prepared' });
    expect(step(prepared, FULL)).toEqual({ do: 'nothing' });
    expect(step(nextState(prepared, { type: 'ended' }), NOTHING)).toEqual(SEND);
    expect(step(after({ type: 'prepared' }, { type: 'prepared_taken' }), NOTHING)).toEqual({ do: 'nothing' });
  });

  it('is not to freeze anything before the number of the last batch is known', () => {
    expect(step(after(STARTED), FULL)).toEqual({ do: 'nothing' });
  });

  it('is to send all that waits when it closes, and nothing once it has stopped', () => {
    const closing = after(OPENED, STARTED, { type: 'ended' }, { type: 'closing' });
    expect(step(closing, FEW, 1001)).toEqual(SEND);
    expect(step(nextState(closing, { type: 'stopped' }), FULL)).toEqual({ do: 'nothing' });
  });

  it('stays nothing when it is closed once more after the stop', () => {
    expect(after({ type: 'stopped' }, { type: 'closing' }).phase).toBe('stopped');
  });
});

describe('while little happens', () => {
  const QUIET = { maxBatchRows: 25_000, maxAgeMs: 250, quietAgeMs: 800 };
  const ended = (...startsMs: number[]): SinkState =>
    after(
      OPENED,
      ...startsMs.flatMap((nowMs): SinkChange[] => [
        { type: 'started', nowMs, takes: 'all' },
        { type: 'ended' },
      ]),
    );
  const waitOf = (state: SinkState, waiting: Partial<typeof FEW>, nowMs: number) => {
    const due = nextStep(state, { ...FEW, ...waiting }, QUIET, nowMs);
    return due.do === 'wait' ? due.ms : due.do;
  };

  it('batches of few rows are further apart', () => {
    const state = ended(1000, 1250, 2050);
    expect(waitOf(state, {}, 2050)).toBe(800);
    expect(waitOf(state, { rows: MANY_ROWS - 1 }, 2100)).toBe(750);
    expect(waitOf(state, {}, 2850)).toBe('send');
  });

  it('many rows do not wait longer for it', () => {
    const state = ended(1000, 1250, 2050);
    expect(waitOf(state, { rows: MANY_ROWS }, 2100)).toBe(200);
    expect(waitOf(state, { rows: MANY_ROWS }, 2300)).toBe('send');
  });

  it('the reference says how many are many', async () => {
    const page = await readFile(
      new URL('../../../../docs/reference/configuration.md', import.meta.url),
      'utf8',
    );
    expect(page).toContain(`while fewer than ${MANY_ROWS.toLocaleString('en')} rows wait`);
  });

  it('what a sender waits for goes after a sixth of it, alone, and holds the rest back no longer', () => {
    const limits = { ...QUIET, quietAgeMs: 2400 };
    const due = (state: SinkState, isAwaited: boolean, nowMs: number) =>
      nextStep(state, { ...FEW, isAwaited }, limits, nowMs);
    const state = ended(1000, 1250, 2050);
    expect(due(state, true, 2050)).toEqual({ do: 'wait', ms: 400 });
    expect(due(state, true, 2450)).toEqual({ do: 'send', takes: 'awaited' });
    const alone: SinkChange[] = [{ type: 'started', nowMs: 2450, takes: 'awaited' }, { type: 'ended' }];
    const then = alone.reduce(nextState, state);
    expect(due(then, true, 2450)).toEqual({ do: 'wait', ms: 400 });
    expect(due(then, false, 2450)).toEqual({ do: 'wait', ms: 2000 });
    expect(due(then, true, 4450)).toEqual(SEND);
  });

  it('what a sender waits for goes with the rest where that is due as soon', () => {
    const afterPause = ended(1000);
    expect(nextStep(afterPause, { ...FEW, isAwaited: true }, QUIET, 1250)).toEqual(SEND);
    const many = { ...FEW, rows: MANY_ROWS, isAwaited: true };
    expect(nextStep(ended(1000, 1250, 2050), many, QUIET, 2300)).toEqual(SEND);
  });

  it('a lone callback has the reply that it causes follow at once, and the third batch waits again', () => {
    expect(waitOf(ended(1000), {}, 1100)).toBe(150);
    expect(waitOf(ended(1000, 1250), {}, 1400)).toBe(650);
    expect(waitOf(ended(1000, 1250, 2850), {}, 2900)).toBe(200);
  });

  it('a steady trickle gets a batch each interval, never two', () => {
    // A timer is late by a few milliseconds: that is no pause.
    expect(waitOf(ended(1000, 1810, 2630), {}, 2630)).toBe(800);
  });

  it('a batch that takes long brings the next one forward, by as much', () => {
    const slow = nextState(ended(1000, 1250, 2050), { type: 'acknowledged', at: 5, nowMs: 2350 });
    expect(waitOf(slow, {}, 2350)).toBe(200);
    const slower = nextState(ended(1000, 1250, 2050), { type: 'acknowledged', at: 5, nowMs: 3250 });
    expect(waitOf(slower, {}, 3250)).toBe('send');
  });

  it('a quick batch of what is awaited does not stand for the slow one of all', () => {
    const slow = nextState(ended(1000, 1250, 2050), { type: 'acknowledged', at: 5, nowMs: 2350 });
    const quick: SinkChange[] = [
      { type: 'started', nowMs: 2400, takes: 'awaited' },
      { type: 'acknowledged', at: 6, nowMs: 2410 },
      { type: 'ended' },
    ];
    expect(waitOf(quick.reduce(nextState, slow), {}, 2410)).toBe(240);
  });

  it('nothing waits longer where no longer wait is wanted', () => {
    const state = ended(1000, 1250, 2050);
    expect(nextStep(state, FEW, { ...QUIET, quietAgeMs: 0 }, 2100)).toEqual({ do: 'wait', ms: 200 });
    expect(nextStep(state, FEW, { ...QUIET, maxAgeMs: 0, quietAgeMs: 0 }, 2050)).toEqual(SEND);
  });
});

describe('the number of a batch', () => {
  it('goes on from the last one that the store knows, for batches in the ledger only', () => {
    const opened = after(OPENED);
    expect([batchSeqAfter(opened, true), batchSeqAfter(opened, false)]).toEqual([8, 7]);
    const frozen = nextState(opened, { type: 'frozen', batchSeq: 8 });
    expect(batchSeqAfter(frozen, true)).toBe(9);
  });
});

describe('how long nothing has moved', () => {
  it('is counted from the oldest write, and anew from each acknowledgement', () => {
    expect(stalledMs(INITIAL_STATE, null, 500)).toBeNull();
    expect(stalledMs(INITIAL_STATE, 100, 500)).toBe(400);
    const acknowledged = after({ type: 'acknowledged', at: 5, nowMs: 450 });
    expect(stalledMs(acknowledged, 100, 500)).toBe(50);
    expect(stalledMs(acknowledged, 480, 500)).toBe(20);
    expect(acknowledged.lastAckAt).toBe(5);
  });
});
