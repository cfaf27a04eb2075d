import { expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import { messageOf } from '../../../alerts/notify/webhook-body.ts';

const alert = (status: Alert['status'], annotations: Alert['annotations'] = {}): Alert => ({
  fingerprint: '0123456789abcdef',
  status,
  labels: { alertname: 'A', severity: 'critical' },
  annotations: { summary: 'It is broken.', ...annotations },
  startsAt: new Date('2026-11-21T10:15:00Z'),
  endsAt: new Date('2026-11-21T10:30:00Z'),
  generatorUrl: '',
  values: {},
});

it("shows times by the reader's clocks where the alert has them, and in UTC otherwise", () => {
  expect(messageOf(alert('firing'))).toContain('\nSince: 2026-11-21T10:15:00.000Z');
  expect(messageOf(alert('resolved'))).toBe('over since 2026-11-21T10:30:00.000Z: It is broken.');
  const since = '2026-11-21 10:15:00 UTC (11:15:00 Europe/Berlin)';
  expect(messageOf(alert('firing', { since }))).toContain(`\nSince: ${since}`);
  expect(messageOf(alert('resolved', { since, ended: 'then' }))).toBe('over since then: It is broken.');
});
