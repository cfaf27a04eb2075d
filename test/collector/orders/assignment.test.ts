import { createRequire } from 'node:module';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAssigned, murmur2 } from '../../../collector/orders/assignment.ts';
import { watchedOrder } from '../../support/watched-order.ts';

const require = createRequire(import.meta.url);
const kafkaMurmur2 = require('kafkajs/src/producer/partitioners/default/murmur2') as (key: Buffer) => number;

describe('the assignment of watched orders', () => {
  it('goes by the hash with which a producer chooses the partition of a watch message', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const key = Buffer.from(text);
        expect(murmur2(key)).toBe(kafkaMurmur2(key) & 0x7fffffff);
      }),
    );
  });

  it('gives each order to exactly one of the partitions, and spreads many over all', () => {
    const counts = Array.from({ length: 6 }, () => 0);
    for (let index = 0; index < 6000; index += 1) {
      const order = watchedOrder({ orderId: `order-${index}` });
      const owners = counts.flatMap((_, partition) =>
        isAssigned({ partitions: [partition], of: 6 }, order) ? [partition] : [],
      );
      expect(owners).toHaveLength(1);
      counts[owners[0] ?? 0] = (counts[owners[0] ?? 0] ?? 0) + 1;
    }
    for (const count of counts) expect(count).toBeGreaterThan(800);
  });

  it('is everything while none is known, and nothing without a partition', () => {
    expect(isAssigned(null, watchedOrder())).toBe(true);
    expect(isAssigned({ partitions: [], of: 6 }, watchedOrder())).toBe(false);
  });
});
