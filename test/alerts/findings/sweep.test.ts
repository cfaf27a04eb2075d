import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FindingKind } from '../../../schemas/findings.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import {
  found,
  type FoundRow,
  findingsOf,
  MINUTE,
  NOW,
  paid,
  seedAll,
  sweepAll,
  type OrderFacts,
  watching,
} from './support/scene.ts';

const BEGAN = [
  [0, '1.0.0.00'],
  [1, '1.1.1.00'],
  [2, '2.1.1.00'],
] as const;
const CONFIRMED = [31, '6.1.1.00'] as const;
const PAID = [...BEGAN, [30, '4.1.3.00'], CONFIRMED] as const;
const success = { at: 31, status: 'Success' };

interface Case {
  readonly facts: OrderFacts;
  readonly finds: readonly (Partial<FoundRow> & { readonly kind: FindingKind })[];
}

/** One contradiction each, and what is one only at first sight. Seconds of an order's life; 3,600 are NOW. */
const CASES: Readonly<Record<string, Case>> = {
  'sources that agree': { facts: paid('fine'), finds: [] },
  'late items, a late confirmation and a late status': {
    facts: paid('late', {
      items: [
        ...BEGAN,
        [30, '4.1.3.00'],
        [31, '6.1.1.00', 640],
        [31, '3.0.1.52', 640],
        [300, '4.1.3.00', 640],
      ],
      replies: [
        [5, 'Processing', '10'],
        [600, 'Success', '10'],
      ],
    }),
    finds: [],
  },
  'a callback that did not come, though the history has it': {
    facts: paid('lost', { callbacks: [] }),
    finds: [
      {
        kind: 'CALLBACK_MISSING',
        subject: 'Success',
        side: 'merchant',
        expected: 'callback Success',
        found: 930 - 3600,
        resolved: null,
      },
    ],
  },
  'a callback that was never sent': {
    facts: paid('unsent', { callbacks: [], items: PAID.slice(0, -1) }),
    finds: [{ kind: 'CALLBACK_MISSING', side: 'gateway', received: 'none' }],
  },
  'a callback that came at last': {
    facts: paid('at-last', { callbacks: [{ at: 2000, status: 'Success' }] }),
    finds: [{ kind: 'CALLBACK_MISSING', found: 930 - 3600, resolved: 2000 - 3600 }],
  },
  'a callback that does not verify, in the place of one that does': {
    facts: paid('forged', { callbacks: [{ ...success, verdict: 'mismatch' }] }),
    finds: [{ kind: 'CALLBACK_MISSING', side: 'merchant', received: 'one that does not verify' }],
  },
  'an order that was learnt of days later': {
    facts: paid('backfilled', {
      began: NOW - 3 * 1440 * MINUTE,
      items: PAID.map(([at, action]) => [at, action, 3 * 86_400 - 1_800] as const),
      replies: [],
      watch: [3 * 86_400 - 1_800, '10', 'EUR'],
      callbacks: [],
    }),
    finds: [],
  },
  'a callback that the history does not know': {
    facts: paid('unrecorded', { items: PAID.slice(0, -1) }),
    finds: [
      {
        kind: 'CALLBACK_WITHOUT_HISTORY',
        side: 'gateway',
        subject: 'Success',
        found: 931 - 3600,
        resolved: null,
      },
    ],
  },
  'a callback about an order that nobody knows': {
    facts: {
      id: 'unknown',
      callbacks: [success],
      polls: [
        [31, 'not_found'],
        [120, 'not_found'],
        [500, 'not_found'],
      ],
    },
    finds: [
      {
        kind: 'CALLBACK_FOR_UNKNOWN_ORDER',
        received: '404',
        found: 120 - 3600,
        resolved: null,
      },
    ],
  },
  'an order that is known a moment after its callback': {
    facts: paid('racing', {
      polls: [
        [31, 'not_found'],
        [33, 'ok'],
      ],
    }),
    finds: [],
  },
  'an order that was unknown for a while': {
    facts: paid('unknown-once', {
      polls: [
        [31, 'not_found'],
        [120, 'not_found'],
        [900, 'ok'],
      ],
    }),
    finds: [{ kind: 'CALLBACK_FOR_UNKNOWN_ORDER', resolved: 900 - 3600 }],
  },
  'replies that say otherwise than the history': {
    facts: paid('stale', { replies: [[5, 'Processing', '10']] }),
    finds: [
      {
        kind: 'STATUS_DISAGREES',
        subject: 'reply',
        expected: 'Success',
        received: 'Processing',
        found: 930 - 3600,
        resolved: null,
      },
    ],
  },
  'replies that came to say the same': {
    facts: paid('stale-once', {
      replies: [
        [5, 'Processing', '10'],
        [2000, 'Success', '10'],
      ],
    }),
    finds: [{ kind: 'STATUS_DISAGREES', subject: 'reply', resolved: 2000 - 3600 }],
  },
  'a final reply without a final item': {
    facts: paid('undecided', { items: BEGAN, replies: [[30, 'Success', '10']], callbacks: [] }),
    finds: [{ kind: 'STATUS_DISAGREES', subject: 'reply', expected: 'no final item', received: 'Success' }],
  },
  'the same with codes of another format': {
    facts: paid('legacy', { items: [[0, '10.2.31.4']], replies: [[30, 'Success', '10']] }),
    finds: [],
  },
  'a callback whose status the history never had': {
    facts: paid('named-otherwise', { callbacks: [success, { at: 40, status: 'Failed' }] }),
    finds: [
      { kind: 'STATUS_DISAGREES', subject: 'callback Failed', expected: 'Success', received: 'Failed' },
    ],
  },
  'another amount in the callback': {
    facts: paid('amount', { callbacks: [{ ...success, amount: '12.50' }] }),
    finds: [
      { kind: 'AMOUNT_DISAGREES', subject: 'callback', side: 'gateway', expected: '10', received: '12.5' },
    ],
  },
  'another amount that the history explains': {
    facts: paid('repriced', {
      items: [...BEGAN, [30, '5.1.3.35'], CONFIRMED],
      replies: [
        [5, 'Processing', '10'],
        [30, 'Success', '12.5'],
      ],
      callbacks: [
        { ...success, amount: '12.50' },
        { ...success, at: 31, amount: '12.50', body: 'that the amount was changed' },
      ],
    }),
    finds: [],
  },
  'another amount than the shop had in mind': {
    facts: paid('ordered', { watch: [0, '20', 'EUR'] }),
    finds: [{ kind: 'AMOUNT_DISAGREES', subject: 'watch', side: 'merchant', expected: '10', received: '20' }],
  },
  'another currency in the callback': {
    facts: paid('currency', { callbacks: [{ ...success, currency: 'USD' }] }),
    finds: [
      { kind: 'CURRENCY_DISAGREES', subject: 'callback', side: 'stranger', expected: 'EUR', received: 'USD' },
    ],
  },
  'another currency than the shop had in mind, of an order whose replies name none': {
    facts: paid('no-currency', {
      watch: [0, '10', 'usd'],
      replies: [[30, 'Success', '10']],
      callbacks: [{ ...success, currency: 'USD' }],
    }),
    finds: [],
  },
  'a history that has lost an item': {
    facts: paid('rewritten', {
      polls: [
        [31, 'ok'],
        [60, 'ok', 2],
      ],
    }),
    finds: [
      {
        kind: 'HISTORY_REWRITTEN',
        expected: '2026-03-02T11:00:30.000000Z 4.1.3.00 0',
        received: '2 items missing',
        found: 60 - 3600,
        resolved: null,
      },
    ],
  },
  'a history that has it again': {
    facts: paid('rewritten-once', {
      polls: [
        [31, 'ok'],
        [60, 'ok', 1],
        [90, 'ok'],
      ],
    }),
    finds: [{ kind: 'HISTORY_REWRITTEN', received: '1 item missing', resolved: 90 - 3600 }],
  },
  'a payment after a failure': {
    facts: paid('reversed', {
      items: [...BEGAN, [20, '4.1.4.00'], [21, '6.1.1.00'], [30, '4.1.3.00'], CONFIRMED],
      callbacks: [{ at: 21, status: 'Failed' }, success],
    }),
    finds: [{ kind: 'SUCCESS_AFTER_FAILED', expected: 'Failed', received: 'Success', found: 30 - 3600 }],
  },
  'an order that is never decided': {
    facts: paid('stuck', {
      items: [...BEGAN, [10, '4.2.2.13']],
      replies: [[5, 'Processing', '10']],
      callbacks: [],
    }),
    finds: [{ kind: 'STUCK_PROCESSING', side: 'provider', found: 1810 - 3600, resolved: null }],
  },
  'an order that is decided late': {
    facts: paid('stuck-once', {
      items: [...BEGAN, [10, '4.2.2.13'], [2400, '4.1.3.00', 2410], [2401, '6.1.1.00', 2410]],
      replies: [
        [5, 'Processing', '10'],
        [2410, 'Success', '10'],
      ],
      callbacks: [{ at: 2410, status: 'Success' }],
    }),
    finds: [{ kind: 'STUCK_PROCESSING', resolved: 2410 - 3600 }],
  },
  'one signature over two bodies': {
    facts: paid('conflict', { callbacks: [success, { ...success, at: 50, body: 'another card mask' }] }),
    finds: [{ kind: 'SIGNATURE_CONFLICT', subject: 'Success 10.00', side: 'stranger', found: 50 - 3600 }],
  },
  'one body by two ways': {
    facts: paid('two-ways', { callbacks: [success, { ...success, at: 50, way: 'intake' }] }),
    finds: [],
  },
  'another body by another way': {
    facts: paid('two-bodies', {
      callbacks: [success, { ...success, at: 50, way: 'intake', body: 'another' }],
    }),
    finds: [{ kind: 'SIGNATURE_CONFLICT', subject: 'Success 10.00', side: 'stranger', found: 50 - 3600 }],
  },
  'another body of which only seals of two tokens are known': {
    facts: paid('two-seals', { callbacks: [success, { ...success, at: 50, body: 'another', seal: 2 }] }),
    finds: [],
  },
  'a body that grows while the payer goes on': {
    facts: paid('grows', {
      callbacks: [
        { at: 3, status: 'Processing' },
        { at: 6, status: 'Processing', body: 'with the card mask' },
        success,
      ],
    }),
    finds: [],
  },
  'one body under a new key and under the one before': {
    facts: paid('rotated', { callbacks: [success, { ...success, at: 50, verdict: 'valid_previous_key' }] }),
    finds: [],
  },
  'another amount and currency, named before a callback of an earlier state comes late': {
    facts: paid('named-late', {
      callbacks: [
        { ...success, amount: '11.00', currency: 'USD' },
        { at: 34, status: 'Processing' },
      ],
    }),
    finds: [
      { kind: 'AMOUNT_DISAGREES', subject: 'callback', received: '11' },
      { kind: 'CURRENCY_DISAGREES', subject: 'callback', received: 'USD' },
    ],
  },
  'a callback that is retried': {
    facts: paid('retried', { callbacks: [success, { ...success, at: 600 }] }),
    finds: [],
  },
  'a callback that comes again after hours': {
    facts: paid('replayed', {
      began: NOW - 300 * MINUTE,
      callbacks: [success, { ...success, at: 4 * 3600 + 1800 }],
    }),
    finds: [{ kind: 'REPLAYED', side: 'stranger' }],
  },
  'a callback that comes again after hours by another way': {
    facts: paid('replayed-elsewhere', {
      began: NOW - 300 * MINUTE,
      callbacks: [success, { ...success, at: 4 * 3600 + 1800, way: 'intake' }],
    }),
    finds: [{ kind: 'REPLAYED', side: 'stranger' }],
  },
  'a callback of before its body had a key that comes again after hours': {
    facts: paid('replayed-keyless', {
      began: NOW - 300 * MINUTE,
      callbacks: [
        { ...success, seal: 0 },
        { ...success, at: 4 * 3600 + 1800 },
      ],
    }),
    finds: [{ kind: 'REPLAYED', side: 'stranger' }],
  },
  'a callback that comes again little more than an hour later': {
    facts: paid('replayed-soon', {
      began: NOW - 80 * MINUTE,
      callbacks: [success, { ...success, at: success.at + 3_601 }],
    }),
    finds: [{ kind: 'REPLAYED', found: success.at + 3_601 - 80 * 60 }],
  },
  'a callback that comes again a little less than an hour later': {
    facts: paid('retried-late', {
      began: NOW - 80 * MINUTE,
      callbacks: [success, { ...success, at: success.at + 3_599 }],
    }),
    finds: [],
  },
  'a callback that we read again after hours': {
    facts: paid('read-again', {
      began: NOW - 300 * MINUTE,
      callbacks: [
        { ...success, delivery: 'one' },
        { ...success, at: 4 * 3600 + 1800, delivery: 'one' },
      ],
    }),
    finds: [],
  },
};

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  await store.seed(seedAll(Object.values(CASES).map(({ facts }) => facts)));
  await store.seed(watching());
  await sweepAll(findingsOf(store));
});
afterAll(() => store?.stop());

it.each(Object.entries(CASES))('finds what contradicts: %s', async (_title, { facts, finds }) => {
  const rows = await found(store, `external_id = '${facts.id}'`);
  expect(rows).toEqual(finds.map((one) => expect.objectContaining(one)));
});

it('finds the same when all is compared again, by two that know nothing of one another', async () => {
  const before = await found(store);
  await store.command('TRUNCATE TABLE gatewatch.jobs_store');
  await Promise.all([sweepAll(findingsOf(store)), sweepAll(findingsOf(store))]);
  expect(await found(store)).toEqual(before);
});

it('closes what no longer contradicts, and leaves the others open', async () => {
  const corrected = paid('amount', {
    items: [],
    callbacks: [],
    replies: [[3600 + 300, 'Success', '12.50', 'EUR']],
    watch: [3600 + 300, '12.5', 'EUR'],
  });
  const later = NOW + 30 * MINUTE;
  await store.seed(seedAll([corrected]));
  await store.seed(watching(undefined, later));
  await sweepAll(findingsOf(store), later);
  const [closed, ...others] = await found(store, "external_id = 'amount'");
  expect(others).toEqual([]);
  expect(closed).toMatchObject({ kind: 'AMOUNT_DISAGREES', expected: '10', received: '12.5' });
  expect(closed?.resolved).toBeGreaterThan(0);
  expect(
    await found(store, "external_id IN ('lost', 'stale', 'stuck') AND resolved_at IS NULL"),
  ).toHaveLength(3);
});

it('misses no callback of a time before a collector first watched the gateway', async () => {
  const gateway = 'new-here';
  const before = paid('before', { gateway, callbacks: [] });
  const known = paid('known-sender', { gateway });
  await store.seed(seedAll([before, known]));
  await store.seed(watching(gateway, NOW, NOW - 5 * MINUTE));
  await sweepAll(findingsOf(store));
  expect(await found(store, "external_id = 'before'")).toEqual([]);
});

it('does not judge what is due after our picture of a gateway ends', async () => {
  const gateway = 'blind';
  const stuck = paid('unheard', {
    gateway,
    items: [...BEGAN, [10, '4.2.2.13']],
    replies: [],
    callbacks: [],
  });
  await store.seed(seedAll([stuck]));
  const report = { gateway, reportedAt: NOW - 1_000, watermarkAt: NOW - 50 * MINUTE };
  await store.seed({ gatewayStatus: [report] });
  await sweepAll(findingsOf(store));
  expect(await found(store, "external_id = 'unheard'")).toEqual([]);
});
