import { describe, expect, it } from 'vitest';
import { summarize, summaryText } from '../../../sandbox/demo/summary.ts';
import { createStats } from '../../../sandbox/stats.ts';

const COUNTS = {
  orders: 0,
  polls: 0,
  callbacks: 0,
  callbackDeliveries: 0,
  mismatches: 0,
  historyEvents: 0,
  undecodedCodes: 0,
  settledOrders: 0,
  failures: 0,
  rejects: 0,
};

/** Of 12 attempts 10 were acknowledged, and 2 got no answer in time. */
const summaryWith = (callbackDeliveries: number) => {
  const sandbox = createStats();
  Object.assign(sandbox.callbacks, { sent: 12, acknowledged: 10, uncertain: 2 });
  const counts = { ...COUNTS, callbackDeliveries };
  return summarize({
    seconds: 60,
    seed: 'demo',
    dataDir: '.gatewatch/demo',
    sandbox,
    counts,
    spansReceived: 0,
    alerts: [],
  });
};

describe('the summary of the demo', () => {
  it.each([10, 11, 12])('agrees with %i deliveries, as an uncertain one was taken or not', (deliveries) => {
    const summary = summaryWith(deliveries);
    expect(summary.disagreements).toEqual([]);
    expect(summaryText(summary)).toContain('10 acknowledged, 2 uncertain');
  });

  it.each([9, 13])('disagrees with %i: one is lost, or one was never sent', (deliveries) => {
    const summary = summaryWith(deliveries);
    expect(summary.disagreements).toEqual([expect.stringContaining(`10 / ${deliveries}`)]);
    expect(summaryText(summary)).toContain('THE NUMBERS DISAGREE');
  });
});
