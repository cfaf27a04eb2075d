import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { SIGNING_NAMES } from '../../sandbox/signing.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import { metric } from './support/metrics.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';

const kafka = await useKafka();
/** What the sandbox signs with when it is set to sign wrong. */
const WRONG_KEY = 'not-the-key-of-this-merchant';

describe.each([
  ['straight to the store', false],
  ['by way of Kafka, which holds no such signature', true],
])('callbacks that are signed by other rules, %s', (_how, withKafka) => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    if (withKafka && !kafka.available) return;
    sandbox = await createSandbox();
    collector = await startCollectorProcess({
      config: {
        gateways: [
          gatewayConfig(sandbox),
          gatewayConfig(sandbox, { name: 'second', callbackKeys: [WRONG_KEY] }),
        ],
        ...(withKafka && kafka.available
          ? {
              kafka: {
                brokers: [...kafka.brokers],
                groupId: uniqueName('group'),
                callbackTopics: [uniqueName('callbacks')],
                watchTopic: uniqueName('orders'),
                createTopics: true,
              },
            }
          : {}),
      },
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  const causesOf = (view: string) =>
    collector.query<{ external_id: string; verdict: string; signature_cause: string }>(
      `SELECT external_id, verdict, signature_cause FROM ${view} WHERE external_id LIKE 'cause-%' ORDER BY external_id`,
    );

  it.skipIf(withKafka && !kafka.available)('are mismatches, with the cause beside', async () => {
    const expected: { external_id: string; verdict: string; signature_cause: string }[] = [];
    const url = `${collector.intake}/callbacks/sandbox`;
    for (const name of [...SIGNING_NAMES, 'wrong', 'valid'] as const) {
      const externalId = `cause-${name}-a`;
      sandbox.seedOrder({ externalId, status: 'Success', amount: 1250.5 });
      sandbox.sendCallback(externalId, { url, signature: name });
      const cause = name === 'wrong' ? 'key_of_other_gateway' : name === 'valid' ? 'none' : name;
      const verdict = name === 'valid' ? 'valid' : 'mismatch';
      expected.push({ external_id: externalId, verdict, signature_cause: cause });
      // Twenty a second are examined: they are sent no faster.
      await expect.poll(() => sandbox.stats().callbacks.acknowledged).toBe(expected.length);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const sorted = expected.toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));
    await expect.poll(() => causesOf('callbacks')).toEqual(sorted);
    expect(await causesOf('callback_verdicts')).toEqual(sorted);
    const labels = { gateway: 'sandbox', cause: 'amount_comma' };
    expect(await metric(collector.http, 'gatewatch_signature_causes_total', labels)).toBe(1);
  });

  it.skipIf(withKafka && !kafka.available)(
    'name the field that was changed under a genuine signature',
    async () => {
      const externalId = 'cause-x-changed';
      const { body, signature } = signedCallback({ externalId }, sandbox.callbackKey);
      const post = async (text: string): Promise<void> => {
        const headers = { 'Content-Type': 'application/json', Signature: signature };
        const answer = await fetch(`${collector.intake}/callbacks/sandbox`, {
          method: 'POST',
          body: text,
          headers,
        });
        expect(answer.status).toBe(200);
      };
      await post(body);
      await post(body.replace('"100.00"', '"731.42"'));
      const rows = () =>
        collector.query(
          `SELECT verdict, amount, signature_cause FROM callbacks WHERE external_id = '${externalId}' ORDER BY first_received_at`,
        );
      await expect.poll(rows).toEqual([
        { verdict: 'valid', amount: '100.00', signature_cause: 'none' },
        { verdict: 'mismatch', amount: '731.42', signature_cause: 'amount_altered' },
      ]);
    },
  );
});
