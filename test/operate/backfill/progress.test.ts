import { describe, expect, it } from 'vitest';
import {
  isWhatWasRead,
  markSent,
  readLine,
  startProgress,
  stateOf,
  type Progress,
} from '../../../operate/backfill/progress.ts';
import type { Line } from '../../../operate/backfill/read-lines.ts';

const order = (line: number, externalId = `o${line}`): Line => ({
  line,
  message: { orderType: 'Deposit', externalId },
  problem: null,
});
const PROBLEM = { field: 'line', received: 'something else', expected: 'CSV' };
const accept = () => null;

function readAll(progress: Progress, lines: readonly Line[]) {
  return lines.map((line) => readLine(progress, line, accept));
}

describe('the progress of a backfill', () => {
  it('keeps accepted lines pending until they are sent, and counts refused ones', () => {
    const progress = startProgress(null);
    const bad: Line = { line: 3, message: null, problem: PROBLEM };
    expect(readAll(progress, [order(2), bad, order(4)])).toEqual(['pending', PROBLEM, 'pending']);
    expect(progress.pending.map(({ line }) => line)).toEqual([2, 4]);
    expect(progress).toMatchObject({ lines: 3, taken: 0, refused: 1 });
    markSent(progress, 1);
    expect(progress).toMatchObject({ pending: [], taken: 1, refused: 2 });
  });

  it('refuses what is judged to be wrong', () => {
    const progress = startProgress(null);
    expect(readLine(progress, order(2), () => PROBLEM)).toEqual(PROBLEM);
    expect(progress).toMatchObject({ pending: [], refused: 1 });
  });

  it('passes the lines of an earlier run and takes those behind them', () => {
    const first = startProgress(null);
    readAll(first, [order(2), order(3)]);
    markSent(first, 0);
    const next = startProgress(stateOf(first, true));
    expect(readAll(next, [order(2), order(3), order(4)])).toEqual(['skipped', 'skipped', 'pending']);
    expect(next).toMatchObject({ lines: 3, skipped: 2, taken: 2, skipTo: null });
  });

  it('sees that the lines of the earlier run are not the same, also when nothing comes behind them', () => {
    const first = startProgress(null);
    readAll(first, [order(2), order(3)]);
    const state = stateOf(first, true);
    const changed = startProgress(state);
    expect(readAll(changed, [order(2, 'another'), order(3), order(4)]).at(-1)).toBe('another_file');
    const shorter = startProgress(state);
    readAll(shorter, [order(2)]);
    expect(isWhatWasRead(shorter)).toBe(false);
  });
});
