import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { metric } from './support/metrics.ts';
import { type ReceiverScene, startReceiverScene } from './support/receiver-scene.ts';

let receiver: OtlpReceiver;
let scene: ReceiverScene;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const traces = { sampling: { share: 0 } };
  scene = await startReceiverScene({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, 'sampled', { traces });
});
afterAll(async () => {
  await scene?.stop();
  await receiver?.close();
});

it('with a share of none, orders that failed are exported whole, and those that were paid are not', async () => {
  const stored = await scene.spansOfStore();
  const paid = scene.orders.findIndex(({ status }) => status === 'Success');
  const wanted = stored.filter(({ traceId }) => traceId !== scene.traceIds[paid]);
  expect(wanted.length).toBeLessThan(stored.length);
  const sampled = (decision: string) =>
    metric(scene.collector.http, 'gatewatch_traces_sampled_total', { decision });
  await expect.poll(() => sampled('kept')).toBe(scene.orders.length - 1);
  await expect.poll(() => sampled('left_out')).toBe(1);
  await expect.poll(() => receiver.spans.length).toBe(wanted.length);
  expect(receiver.spans.map(({ spanId }) => spanId).toSorted()).toEqual(
    wanted.map(({ spanId }) => spanId).toSorted(),
  );
  for (const span of receiver.spans)
    expect(span).toMatchObject({ traceState: 'ot=th:0', attributes: { 'payment.sampling.rate': 1 } });
});
