import { describe, expect, it } from 'vitest';
import { judgeSurvey } from '../../../operate/doctor/kafka-check.ts';
import type { KafkaConfig } from '../../../schemas/config.ts';
import type { KafkaSurvey } from '../../../schemas/kafka.ts';

const kafka = { brokers: ['kafka:9092'], groupId: 'gw', createTopics: false } as unknown as KafkaConfig;
const survey = (change: Partial<KafkaSurvey> = {}): KafkaSurvey => ({
  brokers: 1,
  present: ['gateway.callbacks', 'gateway.orders'],
  missing: [],
  group: { hasCommitted: true, lag: 3n, uncommitted: 0n },
  ...change,
});
const judge = (change?: Partial<KafkaSurvey>, config = kafka) =>
  judgeSurvey(config, survey(change)).map(({ status, message }) => `${status} ${message}`);

describe('what the brokers say', () => {
  it('is fine when all topics exist and the group keeps up', () => {
    expect(judge()).toEqual([
      'ok 1 broker answers at kafka:9092.',
      'ok gateway.callbacks, gateway.orders are there.',
      'ok 3 records behind.',
    ]);
  });

  it('warns of a group that is far behind, and of none that has not begun', () => {
    expect(judge({ group: { hasCommitted: true, lag: 10_001n, uncommitted: 0n } })[2]).toBe(
      'warn 10001 records behind.',
    );
    const fresh = judge({ group: { hasCommitted: false, lag: 20_000n, uncommitted: 0n } })[2];
    expect(fresh).toBe('ok Has not read yet; 20000 records wait.');
  });

  it('warns of records that wait for a transaction to end', () => {
    expect(judge({ group: { hasCommitted: true, lag: 7n, uncommitted: 4n } })[2]).toBe(
      'warn 7 records behind, 4 of them because a transaction is open.',
    );
  });

  it('fails for topics that do not exist, unless the collector makes them', () => {
    const missing = { present: [], missing: ['gateway.callbacks'] };
    const text = 'Not there, or not visible to this user: gateway.callbacks.';
    expect(judge(missing).slice(1)).toEqual([`fail ${text}`, 'ok Nothing to read yet.']);
    expect(judge(missing, { ...kafka, createTopics: true })[1]).toBe(`warn ${text}`);
  });
});
