import { describe, expect, it } from 'vitest';
import { REPLIES } from './replies.ts';
import { attackAsGateway } from './run.ts';

const REPLIES_IN_ALL = Number(process.env['GATEWATCH_GATEWAY_REPLIES'] ?? 300);

describe('a hostile gateway', () => {
  it('hurts itself only', async () => {
    const report = await attackAsGateway({ messages: REPLIES_IN_ALL, seed: 7, say: () => undefined });
    console.log(JSON.stringify(report));
    expect(Object.keys(report.served)).toHaveLength(REPLIES.length);
    expect(report.good.settled).toBe(report.good.orders);
    expect(report.good.wrongItems).toBe(0);
    // Every callback is taken, on a busy machine after a retry, and none that was taken is missing.
    const { 200: taken = 0, 503: _again, ...others } = report.callbacks.answers;
    expect([taken, others]).toEqual([report.callbacks.sent, {}]);
    expect(report.callbacks.lost).toBe(0);
    expect(report.observed.notReady).toEqual({});
    expect(report.observed.memoryMb.most - report.observed.memoryMb.first).toBeLessThan(700);
    expect(report.rejects).toMatchObject({
      history_older_than_retention: expect.any(Number),
      history_in_the_future: expect.any(Number),
      reply_malformed: expect.any(Number),
      reply_too_large: expect.any(Number),
      reply_truncated: expect.any(Number),
    });
    // With three other processes that want both cores it takes more than four minutes.
  }, 900_000);
});
