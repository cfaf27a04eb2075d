import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { itemSpanId, rootSpanId, stableId, traceId } from '../../collector/decode/ids.ts';
import { parseTime } from '../../collector/decode/time.ts';

// The worked example of the trace contract. Anyone who computes these ids from the documentation must get the
// same ones.
const order = {
  gateway: 'acme-eu',
  orderType: 'Deposit',
  externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
} as const;
const eventTime = parseTime('2026-11-21T10:15:30.250000Z') ?? 0;

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the ids of the worked example', () => {
  it('has the trace id of the contract', () => {
    expect(traceId(order)).toBe('e9aa68962ba7f508d810ef274ad7c745');
  });

  it('has the root span id of the contract', () => {
    expect(rootSpanId(order)).toBe('d715956db1b89fd4');
  });

  it('has the item span id of the contract', () => {
    expect(itemSpanId(order, { eventTime, action: '2.2.4.11', occurrence: 0 })).toBe('1c9b13a5a77bfaa2');
  });

  it('has the same item span id however the gateway writes the same instant', () => {
    for (const text of [
      '2026-11-21T10:15:30.25',
      '2026-11-21 10:15:30.2500000Z',
      '2026-11-21T12:15:30.250+02:00',
    ]) {
      const micros = parseTime(text) ?? 0;
      expect(itemSpanId(order, { eventTime: micros, action: '2.2.4.11', occurrence: 0 })).toBe(
        '1c9b13a5a77bfaa2',
      );
    }
  });
});

describe('ids of any order', () => {
  const anyOrder = fc.record({
    gateway: fc.stringMatching(/^[a-z0-9-]{1,20}$/),
    orderType: fc.constantFrom('Deposit' as const, 'Withdrawal' as const),
    externalId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  });
  const item = fc.record({
    eventTime: fc.integer({ min: Date.UTC(2000, 0, 1) * 1000, max: Date.UTC(2100, 0, 1) * 1000 - 1 }),
    action: fc.string({ unit: 'grapheme', maxLength: 20 }),
    occurrence: fc.nat(10_000),
  });

  it('are the first bytes of SHA-256 over the documented texts', () => {
    fc.assert(
      fc.property(anyOrder, item, (of, { eventTime: micros, action, occurrence }) => {
        const text = `${of.gateway}|${of.orderType}|${of.externalId}`;
        const seconds = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19);
        const time = `${seconds}.${String(micros % 1_000_000).padStart(6, '0')}Z`;
        expect(traceId(of)).toBe(sha256(text).slice(0, 32));
        expect(rootSpanId(of)).toBe(sha256(`${text}|root`).slice(0, 16));
        expect(itemSpanId(of, { eventTime: micros, action, occurrence })).toBe(
          sha256(`${text}|${time}|${action}|${occurrence}`).slice(0, 16),
        );
      }),
    );
  });

  it('differ as soon as one part of the identity differs', () => {
    fc.assert(
      fc.property(anyOrder, anyOrder, item, item, (one, other, first, second) => {
        const sameOrder = JSON.stringify(one) === JSON.stringify(other);
        expect(traceId(one) === traceId(other)).toBe(sameOrder);
        const sameItem = JSON.stringify(first) === JSON.stringify(second);
        expect(itemSpanId(one, first) === itemSpanId(one, second)).toBe(sameItem);
      }),
    );
  });

  it('of a text that a row is named by are 32 hexadecimal digits', () => {
    expect(stableId('anything')).toBe(sha256('anything').slice(0, 32));
  });
});
