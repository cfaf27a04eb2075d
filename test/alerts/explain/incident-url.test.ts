import { expect, it } from 'vitest';
import { incidentUrl } from '../../../alerts/explain/incident-url.ts';
import { INCIDENT_DASHBOARD } from '../../../alerts/grafana/incident-dashboard.ts';

const AS_OF = Date.UTC(2026, 10, 21, 10, 31);
const MINUTE = 60_000;
const parts = (address: string) => {
  const url = new URL(address, 'http://console');
  return { path: url.pathname, ...Object.fromEntries(url.searchParams) };
};

it('leads to one evaluation, with as much before the window as the window is long', () => {
  const window = { asOf: AS_OF, windowFrom: AS_OF - 16 * MINUTE, windowTo: AS_OF - MINUTE };
  const key = { rule: 'GatewatchTechTimeouts', gateway: 'a & b', slice: 'channel=p2p', label: 'CHECK' };
  expect(parts(incidentUrl(key, window))).toEqual({
    path: `/d/${INCIDENT_DASHBOARD.uid}`,
    from: String(AS_OF - 31 * MINUTE),
    to: String(AS_OF),
    'var-rule': 'GatewatchTechTimeouts',
    'var-gateway': 'a & b',
    'var-slice': 'channel=p2p',
    'var-label': 'CHECK',
    'var-as_of': '2026-11-21 10:31:00',
  });
});

it('shows the hour before a number that has no window', () => {
  const key = { rule: 'GatewatchCircuitOpen', gateway: 'acme-eu', slice: '', label: '' };
  expect(parts(incidentUrl(key, { asOf: AS_OF, windowFrom: AS_OF, windowTo: AS_OF }))).toMatchObject({
    from: String(AS_OF - 60 * MINUTE),
    to: String(AS_OF),
    'var-label': '',
  });
});
