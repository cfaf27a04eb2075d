import { expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import { messageOf, webhookBody } from '../../../alerts/notify/webhook-body.ts';

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

it('names the incident of the worst alert, which a receiver threads messages by', () => {
  const of = (severity: string, incident: string, minute: number): Alert => ({
    ...alert('firing', { incident, incident_headline: `${incident} is broken` }),
    labels: { alertname: 'A', severity },
    startsAt: new Date(minute * 60_000),
  });
  const alerts = [of('warning', 'old', 1), of('critical', 'new', 9), of('warning', 'new', 10)];
  expect(webhookBody('acme-eu', alerts)).toMatchObject({
    incident: { id: 'new', headline: 'new is broken' },
  });
  expect(webhookBody('acme-eu', [alert('firing')])).toMatchObject({ incident: null });
  expect(messageOf(of('critical', 'new', 9))).toMatch(/\nIncident: new$/);
});

it('says of an acknowledged alert in one line who is at it', () => {
  const text = messageOf(alert('firing', { acknowledged: 'by Ann: the provider works on it', steps: '1.' }));
  expect(text).toBe('It is broken. Acknowledged by Ann: the provider works on it');
});
