import { describe, expect, it } from 'vitest';
import { alertStateOf, standingOf } from '../../../../console/page/model/alert-standing.ts';
import type { ConsoleAlert } from '../../../../schemas/console.ts';

const AS_OF = Date.UTC(2026, 10, 21, 10, 30);
const answer = (ageMs: number | null, timeZone = 'UTC') => ({
  alerts: [],
  asOf: ageMs === null ? null : AS_OF,
  ageMs,
  error: null,
  timeZone,
});
const stateOf = (state: string, since: number | null, timeZone = 'UTC') =>
  alertStateOf({ state, since } as ConsoleAlert, { asOf: AS_OF, timeZone });

describe('how far alerts can be relied on', () => {
  it('is said with the instant of the evaluation, while that is of the last three minutes', () => {
    expect(standingOf(answer(180_000))).toEqual({
      isLate: false,
      text: 'Evaluated as of 10:30:00 UTC, once a minute.',
    });
  });

  it('is not at all once the evaluation is older, or missing', () => {
    expect(standingOf(answer(180_001))).toEqual({
      isLate: true,
      text: 'No collector has evaluated the rules since 2026-11-21 10:30:00 UTC.',
    });
    expect(standingOf(answer(null))).toEqual({
      isLate: true,
      text: 'No collector has evaluated the rules yet, or not for days.',
    });
  });
});

describe('the state of an alert', () => {
  it('says who knows of it, and since when', () => {
    expect(stateOf('Pending', AS_OF)).toEqual({
      phase: 'waiting',
      text: 'Pending since 10:30:00 UTC: nobody is notified yet',
    });
    expect(stateOf('Alerting', AS_OF)).toEqual({ phase: 'firing', text: 'Firing since 10:30:00 UTC' });
    expect(stateOf('Recovering', AS_OF)).toEqual({
      phase: 'ending',
      text: 'Firing since 10:30:00 UTC: ending, the condition no longer holds',
    });
    expect(stateOf('NoData', null)).toEqual({ phase: 'firing', text: 'Firing: there is no data' });
    expect(stateOf('Error', null).text).toBe('Firing: the rule cannot be evaluated');
  });

  it("shows times by the reader's clocks beside UTC, unless these show the same", () => {
    expect(standingOf(answer(0, 'Europe/Berlin')).text).toBe(
      'Evaluated as of 10:30:00 UTC (11:30:00 Europe/Berlin), once a minute.',
    );
    expect(standingOf(answer(0, 'Etc/UTC')).text).toBe('Evaluated as of 10:30:00 UTC, once a minute.');
    expect(stateOf('Alerting', AS_OF - 86_400_000, 'Asia/Kolkata').text).toBe(
      'Firing since 2026-11-20 10:30:00 UTC (16:00:00 Asia/Kolkata)',
    );
    expect(stateOf('Alerting', AS_OF - 86_400_000, 'Pacific/Auckland').text).toBe(
      'Firing since 2026-11-20 10:30:00 UTC (23:30:00 Pacific/Auckland)',
    );
    expect(stateOf('Alerting', AS_OF - 82_800_000, 'Pacific/Auckland').text).toBe(
      'Firing since 2026-11-20 11:30:00 UTC (2026-11-21 00:30:00 Pacific/Auckland)',
    );
    expect(stateOf('Alerting', AS_OF, 'No/Such').text).toBe('Firing since 10:30:00 UTC');
  });

  it('names the day when it is another one', () => {
    expect(stateOf('Alerting', AS_OF - 86_400_000).text).toBe('Firing since 2026-11-20 10:30:00 UTC');
  });
});
