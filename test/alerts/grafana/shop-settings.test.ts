import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { generateAlerts } from '../../../alerts/grafana/generate.ts';
import { shopSettings } from '../../../alerts/grafana/shop-settings.ts';

function settingsOf(env: Readonly<Record<string, string>>) {
  const shop = shopSettings(env);
  if ('problems' in shop) throw new Error(shop.problems.join('\n'));
  return shop.settings;
}
const generated = (path: string, env: Readonly<Record<string, string>>): string =>
  generateAlerts(settingsOf(env)).get(path) ?? expect.fail(`no ${path}`);

describe("a shop's own settings", () => {
  const SHOP = {
    GATEWATCH_TIME_ZONE: 'Europe/Berlin',
    GATEWATCH_HOLIDAYS: '2026-12-25, 2027-01-01',
    GATEWATCH_RUNBOOK_URL: 'https://git.shop.de/runbooks',
  };

  it('come from the environment, and change nothing where it has none', () => {
    const calendar = { timeZone: 'Europe/Berlin', holidays: ['2026-12-25', '2027-01-01'] };
    expect(settingsOf(SHOP)).toEqual({ runbookUrl: SHOP.GATEWATCH_RUNBOOK_URL, calendar });
    const empty = { GATEWATCH_TIME_ZONE: '', GATEWATCH_HOLIDAYS: '' };
    expect(generateAlerts(settingsOf(empty))).toEqual(generateAlerts());
  });

  it('are refused with the variable, what it says and what was expected', () => {
    const env = { GATEWATCH_TIME_ZONE: 'Berlin', GATEWATCH_HOLIDAYS: '2026-12-25,25.12.2027' };
    expect(shopSettings(env)).toEqual({
      problems: [
        'GATEWATCH_TIME_ZONE: expected a name of the IANA time zone database, as it is spelt there, such as Europe/Berlin, received "Berlin"',
        'GATEWATCH_HOLIDAYS: expected a date such as 2026-12-25, received "25.12.2027"',
      ],
    });
    const many = Array.from({ length: 151 }, (_, n) => new Date(n * 86_400_000).toISOString().slice(0, 10));
    expect(shopSettings({ GATEWATCH_HOLIDAYS: many.join() })).toEqual({
      problems: [expect.stringMatching(/^GATEWATCH_HOLIDAYS: expected at most 150 items, received "1970/)],
    });
  });

  it("mute by the shop's clocks and on its holidays in Grafana", () => {
    const file = generated('provisioning/notifications/gatewatch-mute-timings.yaml', SHOP);
    const { muteTimes } = parse(file) as { muteTimes: { time_intervals: Record<string, unknown>[] }[] };
    const intervals = muteTimes.flatMap((timing) => timing.time_intervals);
    expect(new Set(intervals.map(({ location }) => location))).toEqual(new Set(['Europe/Berlin']));
    expect(intervals.flatMap(({ days_of_month: days }) => days ?? [])).toEqual(['25', '1']);
  });

  it("show since when an alert fires by the reader's clocks in Grafana, whose templates know zones", () => {
    const path = 'provisioning/notifications/gatewatch-templates.yaml';
    expect(generated(path, SHOP)).toContain(
      '({{ .StartsAt | tz "Europe/Berlin" | date "2006-01-02 15:04:05" }} Europe/Berlin)',
    );
    expect(generated(path, { GATEWATCH_TIME_ZONE: 'Etc/UTC' })).toBe(generated(path, {}));
  });

  it('leave the files for Alertmanager alone: those are filled in when they are written', () => {
    const path = 'alertmanager/gatewatch.tmpl';
    expect(generated(path, SHOP)).toBe(generated(path, {}));
    // Its templates know zones from 0.28 on only.
    expect(generated(path, SHOP)).not.toContain('| tz');
  });
});
