import { describe, expect, it } from 'vitest';
import { drawAlerts } from '../../../cli/terminal/draw-alerts.ts';
import type { Output } from '../../../cli/terminal/host.ts';
import type { AlertLine } from '../../../schemas/alert-line.ts';

const plain: Output = {
  isTty: false,
  columns: 120,
  colour: false,
  write: async () => undefined,
  paint: (_style, text) => text,
};
const asOf = Date.UTC(2026, 10, 21, 19, 59, 7) / 1000;
const window = { window_from: asOf - 1200, window_to: asOf - 300, as_of: asOf };
const line = (rule: string, values: AlertLine['values'], more: Partial<AlertLine> = {}): AlertLine => ({
  rule,
  severity: 'warning',
  labels: { gateway: 'acme-eu' },
  values,
  firing: false,
  summary: '',
  ...more,
});
const drawn = (...lines: AlertLine[]) => drawAlerts(plain, lines).split('\n').slice(1);

describe('the table of gatewatch alerts', () => {
  it('puts what fires at the top, and counts', () => {
    const share = { affected: 30, seen: 71, limit: 4, share: 30 / 71, ...window };
    expect(drawn(line('Quiet', share), line('Loud', share, { firing: true, severity: 'critical' }))).toEqual([
      'FIRING  Loud   critical  gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      'quiet   Quiet  warning   gateway=acme-eu  30 of 71 (42.3 %)      >= 4  19:39 to 19:54',
      '',
      '1 firing, 1 quiet.',
      '',
    ]);
  });

  it('shows a drop beside what was expected, and no limit before there is history', () => {
    const [first, second] = drawn(
      line('Drop', { seen: 12, expected: 80.26, limit: 20, ...window }),
      line('Cold', { seen: 12, expected: 0, limit: -1, ...window }),
    );
    expect(first).toMatch(/12, 80\.3 expected +<= 20 {2}19:39 to 19:54$/);
    expect(second).toMatch(/12, no history yet to expect by +- {2}19:39 to 19:54$/);
  });

  it('shows a gauge at its moment, leaves out empty labels, and names what gives no number', () => {
    const lines = drawn(
      line('Lag', { number: 43.779, limit: 300, as_of: asOf }, { labels: { gateway: '', collector: 'a' } }),
      line('None', { number: null, limit: 0, as_of: null }),
    );
    expect(lines[0]).toMatch(/^quiet +Lag +warning +collector=a +43\.8 +> 300 +at 19:59$/);
    expect(lines[1]).toMatch(/gateway=acme-eu +none +> 0$/);
  });

  it('tells how many days a window spans', () => {
    expect(
      drawn(line('Day', { affected: 1, seen: 2, limit: 3, ...window, window_from: asOf - 300 - 86_400 }))[0],
    ).toMatch(/19:54 to 19:54 \(\+1 d\)$/);
  });
});
