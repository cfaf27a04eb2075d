import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { learn } from '../../../collector/orders/advance.ts';
import { withReply } from '../../../collector/orders/reply-facts.ts';
import type { ReplyContent } from '../../../collector/decode/status-reply.ts';
import { FACT_SOURCES, type FactSource } from '../../../schemas/watch.ts';
import { watchedOrder } from '../../support/watched-order.ts';

interface Fact {
  readonly source: FactSource;
  readonly amount: string | null;
  /** It names an amount that cannot be kept. */
  readonly refused: boolean;
  readonly currency: string | null;
}

const fact: fc.Arbitrary<Fact> = fc
  .record({
    source: fc.constantFrom(...FACT_SOURCES),
    amount: fc.option(fc.nat(99_999).map((cents) => (cents / 100).toFixed(2))),
    refused: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    currency: fc.option(fc.constantFrom('EUR', 'USD', 'JPY')),
  })
  .map((one) => ({ ...one, amount: one.refused ? null : one.amount }));

const isNamed = (one: Fact, field: 'amount' | 'currency'): boolean =>
  one[field] !== null || (field === 'amount' && one.refused);

/** The last of the best source. */
const best = (facts: readonly Fact[], field: 'amount' | 'currency'): Fact | undefined =>
  facts
    .filter((one) => isNamed(one, field))
    .reduce<Fact | undefined>(
      (a, b) => (a !== undefined && FACT_SOURCES.indexOf(a.source) > FACT_SOURCES.indexOf(b.source) ? a : b),
      undefined,
    );

it('an order has the amount and the currency of the best source, the newest of its kind', () => {
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 8 }), (facts) => {
      let order = watchedOrder();
      for (const { source, amount, refused, currency } of facts) {
        const content = {
          orderStatus: 'Processing',
          externalTransactionId: '',
          amount,
          isAmountRefused: refused,
          currency,
        };
        order =
          source === 'status'
            ? withReply(order, content as ReplyContent)
            : learn(order, {
                amount,
                amountSource: amount === null && !refused ? null : source,
                currency,
                currencySource: currency === null ? null : source,
              });
      }
      const [amount, currency] = [best(facts, 'amount'), best(facts, 'currency')];
      expect(order).toMatchObject({
        amount: amount?.amount ?? null,
        amountSource: amount?.source ?? null,
        currency: currency?.currency ?? null,
        currencySource: currency?.source ?? null,
      });
    }),
    { numRuns: 2_000 },
  );
});

it('an order that was read keeps what its reply said, also when an earlier state of it comes back', () => {
  const earlier = watchedOrder({ amount: '1.00', amountSource: 'status' });
  const later = { ...earlier, amount: '2.00' };
  expect(learn(later, earlier)).toBe(later);
});
