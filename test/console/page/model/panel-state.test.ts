import { describe, expect, it } from 'vitest';
import {
  fittingRange,
  NEW_PANEL,
  panelStep,
  problemOf,
  waitingFor,
  type Content,
  type PanelEffect,
  type PanelEvent,
  type PanelState,
} from '../../../../console/page/model/panel-state.ts';

const asked = {
  scope: { dashboard: 'one', from: 1, to: 2, variables: {} },
  raw: { from: 'now-1h', to: 'now' },
};
const frames = (error: string | null = null): Content => ({
  kind: 'frames',
  answer: { frames: [], intervalMs: 60_000, error },
  ...asked,
});
const alerts: Content = {
  kind: 'alerts',
  answer: { alerts: [], asOf: null, ageMs: null, error: null, timeZone: 'UTC' },
  ...asked,
};
/** The state after some events, and what the last of them asks for. */
function after(...events: PanelEvent[]): { state: PanelState; effects: readonly PanelEffect[] } {
  let step: ReturnType<typeof panelStep> = { state: NEW_PANEL, effects: [] };
  for (const event of events) step = panelStep(step.state, event);
  return step;
}
const wanted: PanelEvent = { kind: 'wanted' };
const inSight: PanelEvent = { kind: 'sight', isInSight: true };
const outOfSight: PanelEvent = { kind: 'sight', isInSight: false };
const answered = (question: number, content: Content): PanelEvent => ({
  kind: 'answered',
  question,
  content,
});

describe('a panel', () => {
  it('asks once it is both wanted and in sight, in whichever order', () => {
    expect(after(wanted).effects).toEqual([]);
    expect(after(inSight).effects).toEqual([]);
    for (const events of [
      [wanted, inSight],
      [inSight, wanted],
    ])
      expect(after(...events)).toMatchObject({
        state: { isAsking: true, isWanted: false, question: 1 },
        effects: ['ask'],
      });
  });

  it('asks once for each time that it is wanted, not each time that it comes into sight', () => {
    expect(after(wanted, inSight, outOfSight, inSight).effects).toEqual([]);
    expect(after(wanted, inSight, wanted)).toMatchObject({ state: { question: 2 }, effects: ['ask'] });
    expect(after(wanted, inSight, outOfSight, wanted)).toMatchObject({
      state: { question: 1, isWanted: true },
      effects: [],
    });
  });

  it('draws the answer to its latest question and no other', () => {
    expect(after(wanted, inSight, answered(1, frames()))).toMatchObject({
      state: { content: frames(), isAsking: false },
      effects: ['draw'],
    });
    expect(after(wanted, inSight, wanted, answered(1, frames()))).toMatchObject({
      state: { content: { kind: 'none' }, isAsking: true },
      effects: [],
    });
  });

  it('switches between plot and table and keeps what it has', () => {
    const events = [wanted, inSight, answered(1, frames()), { kind: 'switched' } as const];
    expect(after(...events)).toMatchObject({
      state: { asTable: true, content: frames() },
      effects: ['draw'],
    });
    expect(after(...events, { kind: 'switched' }).state.asTable).toBe(false);
  });

  it('waits with a sign, except for alerts, which stay readable', () => {
    expect([{ kind: 'none' } as const, frames(), alerts].map(waitingFor)).toEqual([
      'loading',
      'reloading',
      null,
    ]);
  });

  it('says what went wrong, also beside what there is to show', () => {
    expect(problemOf({ kind: 'none' })).toBeNull();
    expect(problemOf({ kind: 'failed', error: 'no answer' })).toBe('no answer');
    expect(problemOf(frames('B: wrong'))).toBe('B: wrong');
    expect(problemOf(frames())).toBeNull();
  });
});

describe('zooming to the data', () => {
  const hour = { from: 0, to: 3_600_000 };

  it('is offered where the data lies outside the range, with a tenth of room about it', () => {
    expect(fittingRange('timeseries', [4_000_000, 4_100_000], hour)).toEqual({
      from: 3_990_000,
      to: 4_110_000,
    });
    expect(fittingRange('timeseries', [-50_000, -50_000], hour)).toEqual({ from: -52_000, to: -48_000 });
  });

  it('is offered where states huddle in a tenth of the range, and for nothing else within it', () => {
    expect(fittingRange('state-timeline', [1_000_000, 1_100_000], hour)).toEqual({
      from: 990_000,
      to: 1_110_000,
    });
    expect(fittingRange('state-timeline', [1_000_000, 2_000_000], hour)).toBeNull();
    expect(fittingRange('timeseries', [1_000_000, 1_100_000], hour)).toBeNull();
  });
});
