import { T0, watchedOrder } from '../../support/watched-order.ts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finalSeenAt, foldHistory, foldOrder } from '../../../collector/decode/fold-order.ts';
import { decodeHistory, type SeenItem } from '../../../collector/decode/history.ts';
import { parseTime } from '../../../collector/decode/time.ts';
import type { WatchedOrder } from '../../../schemas/watch.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { anyHistory, at, orderedHistory, type Item } from './history-fixtures.ts';

const fold = (list: readonly Item[]) => foldHistory(decodeHistory(list, fingerprint).items);
/** One item a second. */
const foldActions = (...actions: readonly string[]) =>
  fold(actions.map((action, index) => ({ time: at(index), action })));
const timeAt = (seconds: number) => parseTime(at(seconds));

/**
 * The measure by its words: scan for the greatest time, then the last place, among codes with state 3 or 4.
 */
function outcomeByHand(list: readonly Item[]): [string, number] | null {
  let best: { time: string; place: number; action: string } | null = null;
  for (const [place, { time, action }] of list.entries()) {
    const final = /^[1-6]\.[0-2]\.[34]\.[0-9]{2}$/.test(action);
    if (final && (best === null || time >= best.time)) best = { time, place, action };
  }
  if (best === null) return null;
  if (best.action[4] === '3') return ['succeeded', best.place];
  const byGroup: Record<string, string> = {
    0: 'unspecified_failure',
    1: 'technical_failure',
    2: 'technical_failure',
    3: 'business_failure',
    4: 'risk_decline',
    5: 'user_abandoned',
    6: 'issuer_decline',
  };
  return [byGroup[best.action[6] ?? ''] ?? '', best.place];
}

const decisive: fc.Arbitrary<Item> = fc
  .tuple(
    fc.nat(3),
    fc.integer({ min: 1, max: 6 }),
    fc.nat(2),
    fc.nat(4),
    fc.nat(6),
    fc.integer({ min: 1, max: 9 }),
  )
  .map(([seconds, a, c, b, group, detail]) => ({
    time: at(seconds),
    action: `${a}.${c}.${b}.${group === 0 ? '00' : `${group}${detail}`}`,
  }));

describe('the deciding item', () => {
  it('is the latest with a final state, and the outcome follows from it, for any history', () => {
    fc.assert(
      fc.property(fc.oneof(anyHistory, orderedHistory, fc.array(decisive, { maxLength: 8 })), (list) => {
        const { outcome, deciding } = fold(list);
        expect(deciding === null ? null : [outcome, deciding.position]).toEqual(outcomeByHand(list));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['4.1.3.00', 'succeeded'],
    ['5.1.3.35', 'succeeded'],
    ['2.2.4.11', 'technical_failure'],
    ['2.2.4.21', 'technical_failure'],
    ['1.2.4.31', 'business_failure'],
    ['4.1.4.41', 'risk_decline'],
    ['3.0.4.54', 'user_abandoned'],
    ['4.1.4.63', 'issuer_decline'],
    ['4.1.4.64', 'issuer_decline'],
    ['4.1.4.00', 'unspecified_failure'],
  ])('%s makes an order %s', (action, outcome) => {
    expect(foldActions(action).outcome).toBe(outcome);
  });

  it('is missing while no item carries a final state: the order is pending', () => {
    const pending = { outcome: null, deciding: null };
    expect(fold([])).toMatchObject(pending);
    expect(foldActions('1.0.0.00', '3.0.1.51', '4.2.2.13', '1.2.3.4', 'x')).toMatchObject(pending);
  });

  it('is not undone by the information that follows it', () => {
    expect(foldActions('1.0.0.00', '4.1.3.00', '6.1.1.00', '3.0.1.52')).toMatchObject({
      outcome: 'succeeded',
      deciding: { time: timeAt(1), code: { action: '4.1.3.00' } },
    });
  });
});

describe('a folded history', () => {
  it('says of a deposit with a hitch what happened and when', () => {
    const actions = [
      '1.0.0.00',
      '2.1.1.00',
      '3.0.1.00',
      '3.0.1.51',
      '3.0.1.53',
      '3.1.1.55',
      '4.2.2.13',
      '4.2.2.11',
    ];
    expect(foldActions(...actions, '4.1.3.00', '6.2.3.13', '6.1.1.00')).toMatchObject({
      outcome: 'succeeded',
      furthestStep: 'confirmed',
      reasons: [11, 13],
      failedStages: ['CHECK', 'MERCHANT_CALLBACK'],
      items: 11,
      createdAt: timeAt(0),
      gatewayCreatedAt: timeAt(1),
      formShownAt: timeAt(2),
      formSubmittedAt: timeAt(5),
      processingAt: timeAt(5),
      firstTechnicalFailureAt: timeAt(6),
      firstFailedAt: null,
      firstPaidAt: timeAt(8),
      merchantCallbackAt: timeAt(10),
      lastItemAt: timeAt(10),
    });
  });

  it('keeps both ends of an order that failed and was paid after that', () => {
    expect(foldActions('1.0.0.00', '4.1.4.63', '5.1.3.00')).toMatchObject({
      outcome: 'succeeded',
      reasons: [63],
      failedStages: [],
      firstTechnicalFailureAt: null,
      firstFailedAt: timeAt(1),
      firstPaidAt: timeAt(2),
      deciding: { time: timeAt(2) },
    });
  });

  it('has a step of the form only where an order reached one, and the last that it reached', () => {
    const steps = ['2.1.1.00', '3.0.1.00', '3.0.1.51', '3.0.1.53', '3.1.1.55', '5.1.2.00'];
    expect(steps.map((_, count) => foldActions(...steps.slice(0, count + 1)).furthestStep)).toEqual([
      null,
      'presented',
      'visited',
      'data entered',
      'submitted',
      'confirmed',
    ]);
  });

  it('knows a payment in processing by each of its signs', () => {
    for (const action of ['3.1.1.55', '4.0.1.00', '5.2.1.11', '2.1.2.00'])
      expect(foldActions('1.0.0.00', action).processingAt).toBe(timeAt(1));
    expect(foldActions('1.0.0.00', '2.1.1.00', '3.0.1.53', '6.1.1.00').processingAt).toBeNull();
  });

  it('counts only failed operations as technical failures', () => {
    for (const action of ['2.2.4.11', '4.2.2.21'])
      expect(foldActions(action).firstTechnicalFailureAt).toBe(timeAt(0));
    for (const action of ['2.2.4.31', '4.1.4.11', '2.2.4.00'])
      expect(foldActions(action).firstTechnicalFailureAt).toBeNull();
  });

  it('says nothing of codes that are not of the current format', () => {
    expect(foldActions('1.2.3.4', 'x')).toEqual({
      ...fold([]),
      items: 2,
      createdAt: timeAt(0),
      lastItemAt: timeAt(1),
    });
  });

  it('is the same for its items in any order', () => {
    const shuffled = fc
      .oneof(anyHistory, fc.array(decisive, { maxLength: 8 }))
      .map((list) => decodeHistory(list, fingerprint).items)
      .chain((items) =>
        fc.tuple(fc.constant(items), fc.shuffledSubarray([...items], { minLength: items.length })),
      );
    fc.assert(
      fc.property(shuffled, ([items, others]) => {
        expect(foldHistory(others)).toEqual(foldHistory(items));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the moment when a final state was first seen', () => {
  const seen = (...items: readonly (readonly [action: string, observedAt: number])[]) =>
    finalSeenAt(
      decodeHistory(
        items.map(([action], index) => ({ time: at(index), action })),
        fingerprint,
      ).items.map((item, index) => ({ ...item, observedAt: items[index]?.[1] ?? 0 })),
    );

  it('is that of the deciding item that was seen first, whichever decides in the end', () => {
    expect(seen(['1.0.0.00', 5], ['4.1.4.63', 30], ['4.1.3.00', 20], ['6.1.1.00', 40])).toBe(20);
  });

  it('is missing for an order that is pending', () => {
    expect(seen(['1.0.0.00', 5], ['4.2.2.13', 7])).toBeNull();
  });
});

describe('the row of an order', () => {
  const items = (...list: readonly (readonly [action: string, observedAt?: number])[]): SeenItem[] =>
    decodeHistory(
      list.map(([action], index) => ({ time: at(index), action })),
      fingerprint,
    ).items.map((item, index) => ({ ...item, observedAt: list[index]?.[1] ?? T0 }));
  const order = watchedOrder({
    lastStatus: 'Failed',
    amount: '12.50',
    amountSource: 'watch',
    currency: 'eur',
  });

  it('says what its history does, with the items in time order', () => {
    const row = foldOrder(order, items(['1.1.1.00'], ['4.2.2.13'], ['4.1.4.63']).toReversed(), T0 + 9);
    expect(row).toMatchObject({
      external_id: 'order-1',
      status: 'Failed',
      outcome: 'issuer_decline',
      deciding_action: '4.1.4.63',
      reason_code: 63,
      reason_group: 'ISSUER',
      reason_detail: 'INSUFFICIENT_FUNDS',
      reasons: [13, 63],
      failed_stages: ['CHECK'],
      created_at: timeAt(0),
      first_technical_failure_at: timeAt(1),
      final_at: timeAt(2),
      history_items: 3,
      observed_at: T0 + 9,
      'history.time': [timeAt(0), timeAt(1), timeAt(2)],
      'history.action': ['1.1.1.00', '4.2.2.13', '4.1.4.63'],
      'history.stage': ['INTERNAL', 'CHECK', 'CHECK'],
      'history.list_position': [0, 1, 2],
    });
  });

  it('counts items that were first seen after a final state as late', () => {
    const list = [
      ['1.1.1.00', 1],
      ['2.1.1.00', 9],
      ['4.1.3.00', 5],
      ['6.1.1.00', 9],
    ] as const;
    expect(foldOrder(order, items(...list), T0)).toMatchObject({
      late_items: 2,
      'history.observed_at': [1, 9, 5, 9],
    });
    expect(foldOrder(order, items(['1.1.1.00', 1], ['2.1.1.00', 9]), T0).late_items).toBe(0);
  });

  it('has what others said of it, and says when it ended', () => {
    const rowOf = (more: Partial<WatchedOrder>) => foldOrder({ ...order, ...more }, [], T0 + 9);
    expect(rowOf({})).toMatchObject({
      amount: '12.50',
      amount_source: 'watch',
      currency: 'EUR',
      settled_at: null,
      abandoned_at: null,
    });
    expect(rowOf({ phase: 'settled' })).toMatchObject({ settled_at: T0 + 9, abandoned_at: null });
    expect(rowOf({ phase: 'abandoned' })).toMatchObject({ settled_at: null, abandoned_at: T0 + 9 });
  });

  it('of an order that was only heard of is empty, and lies where it was heard of', () => {
    const row = foldOrder(watchedOrder({ firstSeenAt: T0 - 5 }), [], T0);
    expect(row).toMatchObject({ status: null, outcome: null, history_items: 0, first_seen_at: T0 - 5 });
    expect(row.created_at).toBeNull();
    expect(row['history.time']).toEqual([]);
  });
});
