import { describe, expect, it } from 'vitest';
import type { OpenReject } from '../../../operate/redrive/open-rejects.ts';
import { reportOutcomes, type Outcome } from '../../../operate/redrive/outcomes.ts';

const reject = (change: Partial<OpenReject>): OpenReject => ({
  gateway: 'acme',
  reason: 'unknown_gateway',
  reject_id: 'r1',
  rejected_at: 0,
  refused_by: '',
  topic: 'callbacks',
  partition: 0,
  offset: 1,
  order_type: null,
  order_id: null,
  ...change,
});

describe('the report of a redrive', () => {
  it('counts each outcome, and a reject that nothing was tried for as one without a way', () => {
    const rejects = [reject({}), reject({}), reject({})];
    const outcomes = new Map<OpenReject, Outcome>(
      rejects.slice(0, 2).map((one, i) => [one, i === 0 ? 'stored' : 'gone']),
    );
    expect(reportOutcomes(rejects, outcomes, null)).toMatchObject({
      found: 3,
      stored: 1,
      readAgain: 0,
      gone: 1,
      noWay: 1,
      refusal: null,
    });
  });

  it('names the first twenty that stay: by record, by order, else by id', () => {
    const byOrder = reject({ topic: '', order_type: 'Deposit', order_id: 'o1', reason: 'id_mismatch' });
    const byId = reject({ topic: '', reject_id: 'abc' });
    const outcomes = new Map<OpenReject, Outcome>([[byOrder, 'waiting']]);
    expect(reportOutcomes([reject({}), byOrder, byId], outcomes, 'why').left).toEqual([
      'callbacks/0@1: unknown_gateway, there is no way to try it again with this configuration',
      'acme|Deposit|o1: id_mismatch, its order has not been read without this fault yet',
      'abc: unknown_gateway, there is no way to try it again with this configuration',
    ]);
    const many = Array.from({ length: 30 }, (_, offset) => reject({ offset }));
    expect(reportOutcomes(many, new Map(), null).left).toHaveLength(20);
  });
});
