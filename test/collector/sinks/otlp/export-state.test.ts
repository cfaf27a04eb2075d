import { describe, expect, it } from 'vitest';
import {
  type ExportChange,
  hasBacklog,
  INITIAL_STATE,
  isProgressUnsaved,
  nextState,
  statusOf,
} from '../../../../collector/sinks/otlp/export-state.ts';

const after = (...changes: ExportChange[]) => changes.reduce(nextState, INITIAL_STATE);

describe('the export of spans', () => {
  it('goes on from the progress that the store has noted up to the last batch, whichever reports it first', () => {
    const announced = after({ type: 'announced', batch: 9 }, { type: 'resumed', doneBatch: 4 });
    expect([announced.doneBatch, announced.lastBatch, hasBacklog(announced)]).toEqual([4, 9, true]);
    const resumed = after({ type: 'resumed', doneBatch: 4 }, { type: 'announced', batch: 3 });
    expect([resumed.doneBatch, resumed.lastBatch, hasBacklog(resumed)]).toEqual([4, 4, false]);
    expect(statusOf(announced).backlogBatches).toBe(5);
  });

  it('has nothing to do where the ledger has nothing, whatever was announced', () => {
    const state = after({ type: 'announced', batch: 9 }, { type: 'exhausted' });
    expect([hasBacklog(state), statusOf(state).backlogBatches]).toEqual([false, 0]);
  });

  it('goes on when all spans up to there were sent, and saves it once', () => {
    const sent = after(
      { type: 'announced', batch: 9 },
      { type: 'sent', spans: 500 },
      { type: 'sent', spans: 20 },
    );
    expect([sent.doneBatch, sent.spansExported, isProgressUnsaved(sent)]).toEqual([0, 520, false]);
    const exported = nextState(sent, { type: 'exported', to: 6 });
    expect([exported.doneBatch, isProgressUnsaved(exported), hasBacklog(exported)]).toEqual([6, true, true]);
    expect(isProgressUnsaved(nextState(exported, { type: 'saved' }))).toBe(false);
  });

  it('is in trouble from a failure to the next answer', () => {
    const failed = after({ type: 'failed', error: 'no answer' });
    expect(statusOf(failed)).toMatchObject({ state: 'retrying', lastError: 'no answer' });
    expect(statusOf(nextState(failed, { type: 'answered' }))).toMatchObject({ state: 'ok', lastError: null });
  });
});
