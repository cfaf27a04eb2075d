import { describe, expect, it } from 'vitest';
import {
  type Calendar,
  calendarOf,
  calendarsOf,
  settingsOfCalendar,
  sourcesOf,
} from '../../../alerts/count/calendar.ts';

const seconds = (text: string): number => Date.parse(`${text}Z`) / 1000;
const calendar = (timeZone: string, ...holidays: string[]): Calendar => calendarOf(timeZone, holidays);
/** Where the quarters of a span come from: `days back: from to to`. Until `hours` after the instant. */
function sources(now: string, chosen?: Calendar, { before = 2, after = 1, days = [7, 14, 21, 28] } = {}) {
  const span = { days, from: -4 * before, to: 4 * after, stretch: 1 };
  const text = (time: number): string => new Date(time * 1000).toISOString().slice(0, 16);
  return sourcesOf(span, seconds(now), chosen).map(
    ({ day, from, to, shift }) =>
      `${day}: ${text(from)} to ${text(to)}, ${shift % 86_400 === 0 ? `${shift / 86_400} d` : `${shift / 3600} h`}`,
  );
}

describe('what an hour is compared with', () => {
  it('is the same hour of the same day of the four weeks before, and itself', () => {
    expect(sources('2026-11-25T12:00', undefined, { days: [0, 7, 14, 21, 28] })).toEqual([
      '0: 2026-11-25T10:00 to 2026-11-25T13:00, 0 d',
      '7: 2026-11-18T10:00 to 2026-11-18T13:00, 7 d',
      '14: 2026-11-11T10:00 to 2026-11-11T13:00, 14 d',
      '21: 2026-11-04T10:00 to 2026-11-04T13:00, 21 d',
      '28: 2026-10-28T10:00 to 2026-10-28T13:00, 28 d',
    ]);
  });

  it('is on a holiday that of the four Sundays before, those of holidays left out', () => {
    expect(sources('2026-12-25T12:00', calendar('UTC', '2026-12-25', '2026-12-06'))).toEqual([
      '7: 2026-12-20T10:00 to 2026-12-20T13:00, 5 d',
      '14: 2026-12-13T10:00 to 2026-12-13T13:00, 12 d',
      '28: 2026-11-29T10:00 to 2026-11-29T13:00, 26 d',
    ]);
  });

  it('is on a Sunday that is a holiday that of the Sundays before', () => {
    expect(sources('2026-04-05T12:00', calendar('UTC', '2026-04-05'), { days: [7] })).toEqual([
      '7: 2026-03-29T10:00 to 2026-03-29T13:00, 7 d',
    ]);
  });

  it('is never one of a holiday: that week is left out', () => {
    const chosen = calendar('UTC', '2026-12-25', '2027-01-01');
    expect(sources('2027-01-08T12:00', chosen).map((text) => text.slice(0, 2))).toEqual(['21', '28']);
    // Up to two hours after midnight the span reaches into the evening of the holiday.
    expect(sources('2027-01-09T01:45', chosen).map((text) => text.slice(0, 2))).toEqual(['21', '28']);
    expect(sources('2027-01-09T02:00', chosen)).toHaveLength(4);
  });

  it('is the same hour of the days before, too, unless one was a holiday', () => {
    const chosen = calendar('UTC', '2026-12-25');
    expect(sources('2026-12-28T12:00', chosen, { days: [1, 2, 3] })).toEqual([
      '1: 2026-12-27T10:00 to 2026-12-27T13:00, 1 d',
      '2: 2026-12-26T10:00 to 2026-12-26T13:00, 2 d',
    ]);
    expect(sources('2026-12-25T12:00', chosen, { days: [1] })).toEqual([
      '1: 2026-12-24T10:00 to 2026-12-24T13:00, 1 d',
    ]);
  });

  it('is worked out for each quarter of an hour: in the night to a holiday both kinds of days are in one span', () => {
    // In Berlin the holiday begins an hour before that of UTC.
    const chosen = calendar('Europe/Berlin', '2026-12-25');
    expect(sources('2026-12-24T23:00', chosen, { before: 1, after: 1, days: [7] })).toEqual([
      '7: 2026-12-17T22:00 to 2026-12-17T23:00, 7 d',
      '7: 2026-12-19T23:00 to 2026-12-20T00:00, 5 d',
    ]);
  });

  it('is the same hour by local clocks, also after these have changed', () => {
    // Berlin went from UTC+2 to UTC+1 on 25 October.
    expect(sources('2026-10-27T12:00', calendar('Europe/Berlin'), { days: [7] })).toEqual([
      '7: 2026-10-20T09:00 to 2026-10-20T12:00, 169 h',
    ]);
    expect(sources('2026-10-26T12:00', calendar('Europe/Berlin', '2026-10-26'), { days: [7, 14] })).toEqual([
      '7: 2026-10-25T10:00 to 2026-10-25T13:00, 1 d',
      '14: 2026-10-18T09:00 to 2026-10-18T12:00, 193 h',
    ]);
  });

  it('covers every quarter of an hour, where clocks skip or repeat one, too', () => {
    for (const now of ['2026-03-29T01:30', '2026-04-05T01:30', '2026-10-25T00:30', '2026-11-01T00:30']) {
      const span = { days: [7], from: -8, to: 8, stretch: 1 };
      const found = sourcesOf(span, seconds(now), calendar('Europe/Berlin'));
      expect(found.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(16 * 900);
    }
  });
});

describe('a calendar among the settings', () => {
  const settings = (gateway: string, names: readonly string[]): [string, number][] =>
    names.map((name) => [`*|${gateway}|${name}`, 1]);

  it('is what it was in the configuration, for each gateway', () => {
    const config = { timeZone: 'America/Argentina/Buenos_Aires', holidays: ['2026-12-25', '2026-05-01'] };
    const stored = new Map([
      ...settings('acme', settingsOfCalendar(config)),
      ...settings('beta', settingsOfCalendar({ timeZone: 'UTC', holidays: ['2026-07-04'] })),
      ['GatewatchTechTimeouts|plain|shareAbove', 0.1] as const,
    ]);
    expect([...calendarsOf(stored)]).toEqual([
      ['acme', calendar('America/Argentina/Buenos_Aires', '2026-05-01', '2026-12-25')],
      ['beta', calendar('UTC', '2026-07-04')],
    ]);
  });

  it('is none where nothing is configured', () => {
    expect(settingsOfCalendar({ timeZone: 'UTC', holidays: [] })).toEqual([]);
  });

  it('counts days in UTC where a newer version wrote a zone that is not known here', () => {
    expect(calendarsOf(new Map(settings('acme', ['timeZone/Mars/Olympus_Mons']))).get('acme')).toEqual(
      calendar('UTC'),
    );
  });
});
