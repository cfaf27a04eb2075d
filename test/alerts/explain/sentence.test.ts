import { describe, expect, it } from 'vitest';
import { sentenceOf, type SentenceNumbers } from '../../../alerts/explain/sentence.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';

const micros = (text: string): number => Date.parse(`2026-11-${text}Z`) * 1000;
const evaluation: SentenceNumbers = {
  window_from: micros('21T10:15:00'),
  window_to: micros('21T10:30:00'),
  as_of: micros('21T10:31:00'),
  seen: 340,
  affected: 12,
  expected: null,
  limit: 9,
  share: 12 / 340,
  number: null,
  breach: 1,
  suppressed_by: '',
};
function said(name: AlertRuleName, differences: Partial<SentenceNumbers> = {}, timeZone?: string): string {
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return sentenceOf(rule, { ...evaluation, ...differences }, timeZone);
}

describe('the sentence about an evaluation', () => {
  it('says of a share how many of how many, when, and how many would have been enough', () => {
    expect(said('GatewatchTechTimeouts')).toBe(
      '12 of 340 orders (3.5 %) timed out (reason 11) between 10:15 and 10:30 UTC; 9 would have been enough.',
    );
  });

  it("shows times by the reader's clocks beside UTC", () => {
    expect(said('GatewatchTechTimeouts', {}, 'Europe/Berlin')).toContain(
      ' between 10:15 and 10:30 UTC (11:15 and 11:30 Europe/Berlin); ',
    );
    const overMidnight = { window_from: micros('20T23:50:00'), window_to: micros('21T00:05:00') };
    expect(said('GatewatchTechTimeouts', overMidnight, 'Europe/Berlin')).toContain(
      ' between 2026-11-20 23:50 and 2026-11-21 00:05 UTC (2026-11-21 00:50 and 2026-11-21 01:05 Europe/Berlin); ',
    );
    const wholeDay = { window_from: micros('20T10:30:00') };
    expect(said('GatewatchTechTimeouts', wholeDay, 'Europe/Berlin')).toContain(
      ' between 2026-11-20 10:30 and 2026-11-21 10:30 UTC (2026-11-20 11:30 and 2026-11-21 11:30 Europe/Berlin); ',
    );
    expect(said('GatewatchPictureBehind', { number: 300 }, 'America/New_York')).toContain(
      ' at 10:31 UTC (05:31 America/New_York); ',
    );
  });

  it('says how many it takes while there are not as many, and leaves out a share of nothing', () => {
    expect(said('GatewatchTechTimeouts', { affected: 0, seen: 0, share: null, limit: 5, breach: 0 })).toBe(
      '0 of 0 orders timed out (reason 11) between 10:15 and 10:30 UTC; 5 would be an incident.',
    );
  });

  it('says what is usual where a rule compares with it', () => {
    expect(
      said('GatewatchAntifraudSpike', {
        seen: 12_340,
        affected: 1_851,
        share: 0.15,
        expected: 987.25,
        limit: 1_200,
      }),
    ).toBe(
      '1,851 of 12,340 orders (15 %) were declined by antifraud (reason 41) between 10:15 and 10:30 UTC; about 987.3 are usual, 1,200 would have been enough.',
    );
  });

  it('says of a drop what is usual, and of none that none would be too few', () => {
    const drop = { seen: 20, affected: 20, share: 0.25, expected: 80, limit: 22 };
    expect(said('GatewatchTrafficDrop', drop)).toBe(
      '20 orders began between 10:15 and 10:30 UTC; about 80 are usual, 22 or fewer are an incident.',
    );
    expect(said('GatewatchTrafficDrop', { ...drop, expected: null, limit: -1, breach: 0 })).toBe(
      '20 orders began between 10:15 and 10:30 UTC; no number would be too few.',
    );
  });

  it('says of a gauge its number at its instant, or that it is not known', () => {
    expect(said('GatewatchCollectorSilent', { number: 180.04, limit: 120 })).toBe(
      '180 seconds since a collector last reported on the gateway at 10:31 UTC; up to 120 are tolerated.',
    );
    expect(said('GatewatchCollectorSilent', { number: null, limit: 120, breach: 0 })).toBe(
      'Not known at 10:31 UTC: seconds since a collector last reported on the gateway; up to 120 are tolerated.',
    );
  });

  it('says why what would be an incident is none', () => {
    const held = { breach: 0, suppressed_by: 'GatewatchProviderUnreachable' };
    expect(said('GatewatchTechTimeouts', held)).toMatch(/; GatewatchProviderUnreachable names the cause\.$/);
    expect(said('GatewatchTechTimeouts', { breach: 0, suppressed_by: 'settings' })).toMatch(
      /; the settings switch this rule off\.$/,
    );
  });

  it('names days where a window spans midnight, and seconds where it ends at no whole minute', () => {
    expect(said('GatewatchTechTimeouts', { window_from: micros('20T22:30:00') })).toContain(
      'between 2026-11-20 22:30 and 2026-11-21 10:30 UTC',
    );
    expect(said('GatewatchTechTimeouts', { window_to: micros('21T10:29:47.250') })).toContain(
      'between 10:15 and 10:29:47 UTC',
    );
  });

  it('can be said of every rule', () => {
    for (const { name } of RULES) expect(said(name)).toMatch(/^[^.;]+(\.\d)?[^;]*; [^;]+\.$/);
  });
});
