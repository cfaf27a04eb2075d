import { describe, expect, it } from 'vitest';
import { drawAge, drawAlerts } from '../../../cli/terminal/draw-alerts.ts';
import type { Output } from '../../../cli/terminal/host.ts';
import type { AlertLine, AlertNumbers } from '../../../schemas/alert-line.ts';

const plain: Output = {
  isTty: false,
  columns: 120,
  colour: false,
  write: async () => undefined,
  paint: (_style, text) => text,
};
const asOf = Date.UTC(2026, 10, 21, 19, 59);
const MINUTE = 60_000;
const numbers = (kind: AlertNumbers['kind'], more: Partial<AlertNumbers>): AlertNumbers => ({
  kind,
  asOf,
  windowFrom: asOf - 20 * MINUTE,
  windowTo: asOf - 5 * MINUTE,
  seen: 0,
  affected: 0,
  expected: null,
  limit: 4,
  share: null,
  number: null,
  breach: false,
  suppressedBy: '',
  ...more,
});
const line = (rule: string, seen: AlertNumbers | null, more: Partial<AlertLine> = {}): AlertLine => ({
  rule,
  severity: 'warning',
  summary: '',
  labels: { gateway: 'acme-eu' },
  state: 'Normal',
  since: null,
  detail: '',
  numbers: seen,
  ...more,
});
const drawn = (...lines: AlertLine[]) => drawAlerts(plain, lines).split('\n').slice(1);

describe('the table of gatewatch alerts', () => {
  it("shows times by the reader's clocks beside UTC", () => {
    const since = asOf - 24 * 60 * MINUTE + 4 * 60 * MINUTE;
    const lines = [
      line('Loud', numbers('share', { affected: 30, seen: 71 }), { state: 'Alerting', since }),
      line('Lag', numbers('gauge', { number: 3 })),
    ];
    expect(drawAlerts(plain, lines, 'Europe/Berlin').split('\n').slice(0, 3)).toEqual([
      'state   since, UTC (Europe/Berlin)           rule  severity  where            sees      fires at  window, UTC (Europe/Berlin)',
      'FIRING  2026-11-20 23:59 (2026-11-21 00:59)  Loud  warning   gateway=acme-eu  30 of 71      >= 4  19:39 to 19:54 (20:39 to 20:54)',
      'quiet                                        Lag   warning   gateway=acme-eu  3              > 4  at 19:59 (20:59)',
    ]);
    expect(drawAge(asOf, null, 'Europe/Berlin')).toBe(
      'As evaluated at 2026-11-21 19:59 UTC (20:59 Europe/Berlin).\n',
    );
    expect(drawAlerts(plain, lines, 'Etc/UTC')).toBe(drawAlerts(plain, lines));
  });

  it('shows states with their instants, and counts', () => {
    const share = numbers('share', { affected: 30, seen: 71, share: 30 / 71 });
    const since = asOf - 10 * MINUTE;
    expect(
      drawn(
        line('Loud', share, { state: 'Alerting', since, severity: 'critical' }),
        line('Blind', null, { state: 'NoData', since, labels: {} }),
        line('New', share, { state: 'Pending', since: asOf }),
        line('Old', share, { state: 'Recovering', since }),
        line('Quiet', share),
      ),
    ).toEqual([
      'FIRING   2026-11-21 19:49  Loud   critical  gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      'NO DATA  2026-11-21 19:49  Blind  warning',
      'pending  2026-11-21 19:59  New    warning   gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      'ending   2026-11-21 19:49  Old    warning   gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      'quiet                      Quiet  warning   gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      '',
      '1 firing, 1 no data, 1 pending, 1 ending, 1 quiet.',
      '',
    ]);
    expect(drawn().slice(-2)).toEqual(['0 firing, 0 quiet.', '']);
  });

  it('shows a drop beside what was expected, and no limit before there is history', () => {
    const [first, second] = drawn(
      line('Drop', numbers('drop', { seen: 12, affected: 12, expected: 80.26, limit: 20 })),
      line('Cold', numbers('drop', { seen: 12, affected: 12, limit: -1 })),
    );
    expect(first).toMatch(/12, 80\.3 expected +<= 20 {2}19:39 to 19:54$/);
    expect(second).toMatch(/12, no history yet to expect by +- {2}19:39 to 19:54$/);
  });

  it('shows a gauge at its moment, and names what gives no number', () => {
    const lines = drawn(
      line('Lag', numbers('gauge', { number: 43.779, limit: 300 }), { labels: { collector: 'a' } }),
      line('None', numbers('gauge', { limit: 0 })),
    );
    expect(lines[0]).toMatch(/^quiet +Lag +warning +collector=a +43\.8 +> 300 +at 19:59$/);
    expect(lines[1]).toMatch(/gateway=acme-eu +none +> 0 +at 19:59$/);
  });

  it('says why a rule that would fire does not', () => {
    const held = (suppressedBy: string) =>
      drawn(line('Held', numbers('share', { affected: 30, seen: 71, suppressedBy })))[0];
    expect(held('settings')).toMatch(/ off {2}19:39/);
    expect(held('GatewatchProviderUnreachable')).toMatch(/ see GatewatchProviderUnreachable {2}19:39/);
  });

  it('says how many days a window spans', () => {
    const day = numbers('share', { affected: 1, seen: 2, windowFrom: asOf - 5 * MINUTE - 1_440 * MINUTE });
    expect(drawn(line('Day', day))[0]).toMatch(/19:54 to 19:54 \(\+1 d\)$/);
  });
});

describe('the age of the evaluation', () => {
  it.each([
    [59_000, 'less than a minute ago.'],
    [MINUTE, '1 minute ago.'],
    [2.9 * MINUTE, '2 minutes ago.'],
    [3 * MINUTE, '3 minutes ago. No collector has evaluated the rules since.'],
  ])('after %i ms is said, and that nobody evaluates once it is old', (age, text) => {
    expect(drawAge(asOf, asOf + age)).toBe(`Evaluated at 2026-11-21 19:59 UTC, ${text}\n`);
  });

  it('is of no interest for an instant of the past', () => {
    expect(drawAge(asOf, null)).toBe('As evaluated at 2026-11-21 19:59 UTC.\n');
  });
});
