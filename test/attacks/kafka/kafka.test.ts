import { describe, expect, it } from 'vitest';
import { useKafka } from '../../support/kafka-broker.ts';
import { attackKafka } from './run.ts';

const kafka = await useKafka();
const MESSAGES = Number(process.env['GATEWATCH_KAFKA_MESSAGES'] ?? 2_000);

describe.skipIf(!kafka.available)('a hostile producer', () => {
  it('gets a reason for each message, and the signed callbacks of the same topic land as usual', async () => {
    const brokers = kafka.available ? kafka.brokers : [];
    const report = await attackKafka({
      brokers,
      messages: MESSAGES,
      bombs: 1,
      seed: 7,
      say: () => undefined,
    });
    console.log(JSON.stringify({ ...report, expected: undefined }));
    expect(report.found).toEqual({ ...report.expected, valid: 0 });
    expect(report.good.stored).toBe(report.good.sent);
    expect(report.observed.notReady).toEqual({});
    expect(report.observed.memoryMb.most - report.observed.memoryMb.first).toBeLessThan(700);
  });
});
