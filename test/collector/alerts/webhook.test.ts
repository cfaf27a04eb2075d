import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Alert } from '../../../collector/alerts/alert.ts';
import { type AlertTarget, createTargets } from '../../../collector/alerts/targets.ts';
import { alertsConfigSchema } from '../../../schemas/alerting/config.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

const MINUTE = 60_000;
const ENDED = new Date(3 * MINUTE);

let receiver: WebhookReceiver;
let webhook: AlertTarget;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  webhook = started();
});
afterEach(() => receiver.stop());

/** The target as a start of the collector makes it. */
function started(): AlertTarget {
  const [target] = createTargets(alertsConfigSchema.parse({ webhook: { url: receiver.url } }));
  return target ?? expect.fail('no target');
}

const alert = (rule: string, status: Alert['status']): Alert => ({
  fingerprint: rule,
  status,
  labels: { alertname: rule, gateway: 'acme-eu', severity: 'critical' },
  annotations: { summary: `${rule}.` },
  startsAt: new Date(MINUTE),
  endsAt: ENDED,
  generatorUrl: '',
  values: {},
});
/** All notifications, each as `status: rule status, ...`. */
const told = (): string[] =>
  receiver.told.map(
    ({ body }) =>
      `${body.status}: ${body.alerts.map(({ labels, status }) => `${labels['alertname']} ${status}`).join(', ')}`,
  );

it('is told of a beginning and of an end, once each', async () => {
  for (const minute of [1, 2]) await webhook.send([alert('A', 'firing')], minute * MINUTE);
  for (const minute of [3, 4]) await webhook.send([alert('A', 'resolved')], minute * MINUTE);
  await webhook.send([], 30 * MINUTE);
  expect(told()).toEqual(['firing: A firing', 'resolved: A resolved']);
});

it('hears of an end that came while it was away, however long that was', async () => {
  await webhook.send([alert('A', 'firing')], 2 * MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'resolved')], 3 * MINUTE)).rejects.toThrow('503');
  // What ended long ago is not offered any more.
  await expect(webhook.send([], 30 * MINUTE)).rejects.toThrow('503');
  receiver.answer(200);
  for (const minute of [31, 32]) await webhook.send([], minute * MINUTE);
  expect(told()).toEqual(['firing: A firing', 'resolved: A resolved']);
  expect(receiver.told[1]?.body.alerts[0]?.endsAt).toBe(ENDED.toISOString());
});

it('hears of that end beside what still fires', async () => {
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 2 * MINUTE);
  receiver.answer(503);
  await expect(webhook.send([alert('A', 'resolved'), alert('B', 'firing')], 3 * MINUTE)).rejects.toThrow();
  receiver.answer(200);
  for (const minute of [30, 31]) await webhook.send([alert('B', 'firing')], minute * MINUTE);
  expect(told()).toEqual(['firing: A firing, B firing', 'firing: B firing, A resolved']);
});

it('hears of an end that came while the collector was away', async () => {
  await webhook.send([alert('A', 'firing')], 2 * MINUTE);
  webhook = started();
  for (const minute of [3, 4]) await webhook.send([alert('A', 'resolved')], minute * MINUTE);
  expect(told()).toEqual(['firing: A firing', 'resolved: A resolved']);
});

it('is not told again when what has ended is offered no more', async () => {
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 2 * MINUTE);
  await webhook.send([alert('A', 'resolved'), alert('B', 'firing')], 3 * MINUTE);
  await webhook.send([alert('B', 'firing')], 30 * MINUTE);
  await webhook.send([alert('A', 'firing'), alert('B', 'firing')], 40 * MINUTE);
  expect(told()).toEqual([
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
  expect(told()).toEqual([]);
});
