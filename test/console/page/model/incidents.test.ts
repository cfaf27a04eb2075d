import { describe, expect, it } from 'vitest';
import { barsOf, blocksOf, holdRequests, lasted } from '../../../../console/page/model/incidents.ts';
import type { ConsoleAlert, ConsoleIncident, ConsoleIncidentAlert } from '../../../../schemas/console.ts';

const member = (rule: string, more: Partial<ConsoleIncidentAlert> = {}): ConsoleIncidentAlert => ({
  rule,
  gateway: 'acme-eu',
  slice: '',
  label: '',
  severity: 'critical',
  side: 'provider',
  risk: '',
  summary: '',
  beganAt: 0,
  firedAt: 100,
  recoveringSince: null,
  endedAt: null,
  affectedOrders: null,
  held: null,
  ...more,
});
const incident = (
  alerts: readonly ConsoleIncidentAlert[],
  endedAt: number | null = null,
): ConsoleIncident => ({
  id: 'acme-eu/1970-01-01T00:00:00Z',
  gateway: 'acme-eu',
  headline: 'It is broken.',
  severity: 'critical',
  sides: [],
  risks: [],
  beganAt: 0,
  noticedAt: 100,
  endedAt,
  affectedOrders: null,
  alerts,
  notes: [],
});
const alert = (
  rule: string,
  state: string,
  labels: Record<string, string> = { gateway: 'acme-eu' },
): ConsoleAlert => ({
  rule,
  severity: 'critical',
  summary: '',
  labels,
  state,
  since: 0,
  detail: '',
  numbers: null,
  panelUrl: null,
  ordersUrl: null,
  runbookUrl: '',
  explained: null,
});

describe('blocks of incidents', () => {
  it('hold the alerts in the order in which they fired; what is pending or of others stands apart', () => {
    const check = { gateway: 'acme-eu', stage: 'CHECK' };
    const first = alert('B', 'Alerting', check);
    const second = alert('A', 'Recovering', { gateway: 'acme-eu', slice: 'channel=p2p' });
    const others = [alert('A', 'Pending'), alert('B', 'Alerting', { ...check, gateway: 'acme-us' })];
    const running = incident([member('B', { label: 'CHECK' }), member('A', { slice: 'channel=p2p' })]);
    expect(blocksOf([second, ...others, first], [running])).toEqual({
      blocks: [{ incident: running, alerts: [first, second] }],
      others,
    });
  });

  it('are left out where no alert is shown, and every alert stays without incidents', () => {
    const alerts = [alert('A', 'Alerting')];
    expect(blocksOf(alerts, [incident([member('C')])])).toEqual({ blocks: [], others: alerts });
    expect(blocksOf(alerts, [])).toEqual({ blocks: [], others: alerts });
  });
});

it('asks for each alert that still fires, and for no other', () => {
  const chosen = { kind: 'silenced', for: '2h', reason: 'why', by: 'Ann' } as const;
  const both = incident([member('A', { label: 'CHECK' }), member('B', { endedAt: 200 })]);
  expect(holdRequests(both, chosen)).toEqual([
    { rule: 'A', gateway: 'acme-eu', slice: '', label: 'CHECK', ...chosen },
  ]);
});

it('places waiting and firing on the timeline of the incident', () => {
  const one = member('A', { endedAt: 300 });
  expect(barsOf(incident([one], 400), one, { asOf: 1_000 })).toEqual({
    waiting: { left: 0, width: 25 },
    firing: { left: 25, width: 50 },
  });
  expect(barsOf(incident([member('A')]), member('A'), { asOf: 200 }).firing).toEqual({ left: 50, width: 50 });
});

it('says how long something lasted in two units at most', () => {
  const [second, minute, hour] = [1_000, 60_000, 3_600_000];
  expect([45 * second, 12 * minute, 2 * hour + 5 * minute, 76 * hour, -1].map(lasted)).toEqual([
    '45 s',
    '12 min',
    '2 h 05 min',
    '3 d 4 h',
    '0 s',
  ]);
});
