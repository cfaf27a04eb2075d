import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';

import { fileNotifications, NOTIFICATIONS_FILE } from '../../../alerts/notify/notification-store.ts';
import type { AlertTarget } from '../../../alerts/notify/alert-target.ts';
import { createTargets } from '../../../alerts/notify/delivery.ts';
import { alertsConfigSchema } from '../../../schemas/config-alerts.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const MINUTE = 60_000;
const ENDED = new Date(3 * MINUTE);

let receiver: WebhookReceiver;
let webhook: AlertTarget;
let folder: string;
let outcomes: string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-webhook-'));
  receiver = await startWebhookReceiver();
  outcomes = [];
  webhook = started();
});
afterEach(async () => {
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The target as a start of the collector makes it. */
function started(url = receiver.url): AlertTarget {
  const [target] = createTargets(alertsConfigSchema.parse({ webhook: { url } }), {
    notifications: fileNotifications(folder, url),
    onOutcome: (_, outcome) => void outcomes.push(outcome),
  });
  return target ?? expect.fail('no target');
}

const alert = (rule: string, status: Alert['status'], gateway = 'acme-eu'): Alert => ({
  fingerprint: `${rule} ${gateway}`,
  status,
  labels: { alertname: rule, gateway, severity: 'critical' },
  annotations: { summary: `${rule}.` },
  startsAt: new Date(MINUTE),
  endsAt: ENDED,
  generatorUrl: '',
  values: {},
});
/** All notifications, each as `status: rule status, ...`. */
const notifications = (): string[] =>
  receiver.received.map(
    ({ body }) =>
      `${body.status}: ${body.alerts.map(({ labels, status }) => `${labels['alertname']} ${status}`).join(', ')}`,
  );

it('is notified of a beginning and of an end, once each', async () => {
  for (const minute of [1, 2]) await webhook.send([alert('A', 'firing')], minute * MINUTE);
  for (const minute of [3, 4]) await webhook.send([alert('A', 'resolved')], minute * MINUTE);
  await webhook.send([], 30 * MINUTE);
  expect(notifications()).toEqual(['firing: A firing', 'resolved: A resolved']);
});

it('is not notified that all is well: it would repeat that to people', async () => {
  await webhook.send([alert('GatewatchHeartbeat', 'firing', '')], MINUTE);
  expect(receiver.requests()).toBe(0);
  await webhook.send([alert('GatewatchHeartbeat', 'firing', ''), alert('A', 'firing', '')], 2 * MINUTE);
  expect(notifications()).toEqual(['firing: A firing']);
});

it('posts to a dead man’s switch after each evaluation, and nothing else', async () => {
  const dead = await startWebhookReceiver();
  const [target] = createTargets(
    alertsConfigSchema.parse({ webhook: { url: receiver.url, heartbeatUrl: dead.url } }),
    { notifications: fileNotifications(folder, receiver.url) },
  );
  for (const minute of [1, 2])
    await target?.send([alert('GatewatchHeartbeat', 'firing', ''), alert('A', 'firing')], minute * MINUTE);
  // Rules are no longer evaluated: what fires is offered on, without a sign of life.
  await target?.send([alert('A', 'firing')], 3 * MINUTE);
  expect(dead.received.map(({ body }) => body.alerts.map(({ labels }) => labels['alertname']))).toEqual([
    ['GatewatchHeartbeat'],
    ['GatewatchHeartbeat'],
  ]);
  expect(notifications()).toEqual(['firing: A firing']);
  await dead.stop();
});

it('hears of an end that came while it was away, however long that was', async () => {
  await webhook.send([alert('A', 'firing')], 2 * MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'resolved')], 3 * MINUTE)).rejects.toThrow('503');
  // What ended long ago is not offered any more.
  await expect(webhook.send([], 30 * MINUTE)).rejects.toThrow('503');
  receiver.answer(200);
  for (const minute of [31, 32]) await webhook.send([], minute * MINUTE);
  expect(notifications()).toEqual(['firing: A firing', 'resolved: A resolved']);
  expect(receiver.received[1]?.body.alerts[0]?.endsAt).toBe(ENDED.toISOString());
});

it('hears of that end beside what still fires', async () => {
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 2 * MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'resolved'), alert('B', 'firing')], 3 * MINUTE)).rejects.toThrow();
  receiver.answer(200);
  for (const minute of [30, 31]) await webhook.send([alert('B', 'firing')], minute * MINUTE);
  expect(notifications()).toEqual(['firing: A firing, B firing', 'firing: B firing, A resolved']);
});

it('hears of an end that came while the collector was away', async () => {
  await webhook.send([alert('A', 'firing')], 2 * MINUTE);
  webhook = started();
  for (const minute of [3, 4]) await webhook.send([alert('A', 'resolved')], minute * MINUTE);
  expect(notifications()).toEqual(['firing: A firing', 'resolved: A resolved']);
});

it('is not notified again when what has ended is offered no more', async () => {
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 2 * MINUTE);
  await webhook.send([alert('A', 'resolved'), alert('B', 'firing')], 3 * MINUTE);
  await webhook.send([alert('B', 'firing')], 30 * MINUTE);
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 40 * MINUTE);
  expect(notifications()).toEqual([
    'firing: A firing, B firing',
    'firing: A resolved, B firing',
    'firing: A firing, B firing',
  ]);
});

it('hears nothing of what began and ended while it was away', async () => {
  await webhook.send([], MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'firing')], 2 * MINUTE)).rejects.toThrow('503');
  receiver.answer(200);
  await webhook.send([alert('A', 'resolved')], 3 * MINUTE);
  expect(notifications()).toEqual([]);
});

it('notifies of each gateway on its own: a refusal of one delays no other', async () => {
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((gateway) => alert('A', 'firing', gateway));
  receiver.answer(400, 'a');
  receiver.answer(0, 'b');
  await expect(webhook.send(all, MINUTE)).rejects.toThrow(
    /^(?=.*it answered 400 \(a\))(?=.*no answer \(b\))/,
  );
  expect(receiver.received.map(({ body }) => body.groupLabels['gateway']).toSorted()).toEqual([
    'c',
    'd',
    'e',
    'f',
  ]);
  expect(outcomes.toSorted()).toEqual(['accepted', 'accepted', 'accepted', 'accepted', 'failed', 'refused']);
});

it('offers refused changes again after growing waits, or other changes at once', async () => {
  receiver.answer(400);
  const A = [alert('A', 'firing')];
  await expect(webhook.send(A, MINUTE)).rejects.toThrow('400');
  for (const minute of [2, 3, 4, 5]) await webhook.send(A, minute * MINUTE);
  expect(receiver.requests()).toBe(1);
  await expect(webhook.send([...A, alert('B', 'firing')], 6 * MINUTE)).rejects.toThrow('400');
  for (const minute of [7, 10]) await webhook.send([...A, alert('B', 'firing')], minute * MINUTE);
  expect(receiver.requests()).toBe(2);
  receiver.answer(200);
  await webhook.send([...A, alert('B', 'firing')], 11 * MINUTE);
  expect(notifications()).toEqual(['firing: A firing, B firing']);
});

it('keeps what was refused in the data folder, for its owner only, without the address', async () => {
  receiver.answer(410);
  webhook = started(`${receiver.url}/services/T0/secret-path`);
  await expect(webhook.send([alert('A', 'firing')], MINUTE)).rejects.toThrow(/^(?!.*secret-path).*410/s);
  const file = join(folder, NOTIFICATIONS_FILE);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain('secret-path');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(text)).toMatchObject({
    gateways: { 'acme-eu': { lastFailure: { kind: 'refused', status: 410, tries: 1, alerts: ['A'] } } },
  });
});

it('remembers over a restart what was accepted: an end is sent once, a beginning not again', async () => {
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 2 * MINUTE);
  webhook = started();
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 3 * MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'resolved'), alert('B', 'firing')], 4 * MINUTE)).rejects.toThrow();
  webhook = started();
  receiver.answer(200);
  // The end is so long ago that it is offered no more.
  await webhook.send([alert('B', 'firing')], 40 * MINUTE);
  webhook = started();
  await webhook.send([alert('B', 'firing')], 41 * MINUTE);
  expect(notifications()).toEqual(['firing: A firing, B firing', 'firing: B firing, A resolved']);
});

it('sends the end of an alert whose beginning got no answer', async () => {
  receiver.answer(0);
  await expect(webhook.send([alert('A', 'firing')], MINUTE)).rejects.toThrow('no answer');
  webhook = started();
  receiver.answer(200);
  await webhook.send([], 30 * MINUTE);
  expect(notifications()).toEqual(['resolved: A resolved']);
});

it('sends another address everything anew, and makes nothing of a file that is damaged', async () => {
  await webhook.send([alert('A', 'firing')], MINUTE);
  await started(`${receiver.url}/other`).send([alert('A', 'firing')], 2 * MINUTE);
  writeFileSync(join(folder, NOTIFICATIONS_FILE), '{"address": 1');
  await started().send([alert('A', 'firing')], 3 * MINUTE);
  expect(receiver.requests()).toBe(3);
});

it('sends, and says that it could not write it down, when the folder cannot be written', async () => {
  writeFileSync(join(folder, 'file'), '');
  const known = folder;
  folder = join(known, 'file', 'folder');
  webhook = started();
  folder = known;
  await expect(webhook.send([alert('A', 'firing')], MINUTE)).rejects.toThrow('cannot be kept');
  await webhook.send([alert('A', 'firing')], 2 * MINUTE).catch(() => undefined);
  expect(notifications()).toEqual(['firing: A firing']);
});

it('follows no redirect: neither alerts nor a token go where nobody sent them', async () => {
  receiver.answer(307);
  await expect(webhook.send([alert('A', 'firing')], MINUTE)).rejects.toThrow('307');
  expect(receiver.requests()).toBe(1);
});

const withSeverity = (rule: string, status: Alert['status'], severity: string): Alert => {
  const one = alert(rule, status);
  return { ...one, labels: { ...one.labels, severity } };
};

it('is notified of info apart, and once: info rides along with no page', async () => {
  const info = withSeverity('I', 'firing', 'info');
  for (const minute of [1, 2, 250, 500]) await webhook.send([info, alert('A', 'firing')], minute * MINUTE);
  await webhook.send([{ ...info, status: 'resolved' }, alert('A', 'firing')], 501 * MINUTE);
  expect(notifications().toSorted()).toEqual([
    'firing: A firing',
    'firing: A firing',
    'firing: A firing',
    'firing: I firing',
    'resolved: I resolved',
  ]);
  const groups = receiver.received.map(({ body }) => (body as unknown as { groupKey: string }).groupKey);
  expect(new Set(groups)).toEqual(
    new Set(['{}/{gateway="acme-eu"}', '{}/{gateway="acme-eu", severity="info"}']),
  );
});

it('is not notified of what is silenced, also after a restart, until the silence ends', async () => {
  await webhook.send([alert('A', 'firing')], MINUTE);
  const silenced = { ...alert('A', 'firing'), held: 'silenced' } as const;
  await webhook.send([silenced], 2 * MINUTE);
  webhook = started();
  for (const minute of [3, 300]) await webhook.send([silenced], minute * MINUTE);
  expect(notifications()).toEqual(['firing: A firing']);
  await webhook.send([alert('A', 'firing')], 301 * MINUTE);
  expect(notifications()).toEqual(['firing: A firing', 'firing: A firing']);
});
