import { expect, it } from 'vitest';
import type { OrderTruth } from '../../../sandbox/truth.ts';
import { FINDING_KIND_NAMES } from '../../../schemas/findings.ts';
import { compare, type FoundRow } from './compare.ts';
import { expectedOf } from './expected.ts';

/** The judge of the proof is judged here: it must see what is missing, and what is too much. */

const order = (sequence: number, actions: readonly string[], more: Partial<OrderTruth> = {}): OrderTruth => ({
  sequence,
  externalId: `order-${sequence}`,
  externalTransactionId: '',
  orderType: 'Deposit',
  channel: '',
  currency: 'EUR',
  scenario: '',
  createdAtMs: 0,
  outcome: 'succeeded',
  status: 'Success',
  finalStatus: 'Success',
  finalAmount: 1,
  settledAtMs: 0,
  settled: true,
  contradiction: null,
  items: actions.map((action, second) => ({
    time: `2026-03-02T12:00:0${second}.000Z`,
    action,
    visibleAtMs: 0,
  })),
  ...more,
});
const row = (id: string, kind: FoundRow['kind'], more: Partial<FoundRow> = {}): FoundRow => ({
  external_id: id,
  kind,
  subject: '',
  received: '',
  evidence: '',
  resolved: 0,
  ...more,
});
const PAID = ['1.0.0.00', '1.1.1.00', '4.1.3.00'];
const made = (kind: FoundRow['kind']): Partial<OrderTruth> => ({
  contradiction: { kind, faults: [], doneAtMs: 0 },
});
const TRUTH = [
  order(0, PAID),
  order(1, PAID, made('CALLBACK_MISSING')),
  order(2, PAID, made('CALLBACK_MISSING')),
  order(3, ['1.0.0.00', '1.1.1.00', '3.1.1.55']),
  order(4, ['1.0.0.00', '1.1.1.00', '2.2.2.11', '4.1.3.00']),
];
const ALL = [
  row('order-1', 'CALLBACK_MISSING'),
  row('order-2', 'CALLBACK_MISSING'),
  row('order-3', 'STUCK_PROCESSING'),
  row('order-4', 'FIRST_SEEN_TRANSITION', { subject: '1.1.1.00 -> 2.2.2.11' }),
  row('order-4', 'FIRST_SEEN_TRANSITION', { subject: '2.2.2.11 -> 4.1.3.00' }),
];
const score = (rows: readonly FoundRow[], kind: FoundRow['kind']) =>
  compare(expectedOf(TRUTH, 0), rows).find((one) => one.kind === kind);

it('is content when all is found and nothing else', () => {
  const scores = compare(expectedOf(TRUTH, 0), ALL);
  expect(scores.map(({ kind }) => kind)).toEqual(FINDING_KIND_NAMES);
  expect(scores.filter(({ missed, wronglyFound }) => missed + wronglyFound > 0)).toEqual([]);
  expect(scores.reduce((sum, { provoked }) => sum + provoked, 0)).toBe(ALL.length);
});

it('misses what is not found, and what is said to be over', () => {
  expect(score(ALL.slice(1), 'CALLBACK_MISSING')).toMatchObject({ found: 1, missed: 1, share: 0.5 });
  const over = ALL.map((one) => ({ ...one, resolved: 1 }));
  expect(score(over, 'STUCK_PROCESSING')).toMatchObject({ found: 0, missed: 1, wronglyFound: 0 });
  expect(score(ALL.slice(0, -1), 'FIRST_SEEN_TRANSITION')).toMatchObject({ provoked: 2, missed: 1 });
});

it('counts what is found where there is none, what is over by now apart', () => {
  const open = row('order-0', 'REPLAYED');
  expect(score([...ALL, open], 'REPLAYED')).toMatchObject({ wronglyFound: 1, wronglyFoundAndResolved: 0 });
  expect(score([...ALL, { ...open, resolved: 1 }], 'REPLAYED')).toMatchObject({
    wronglyFound: 0,
    wronglyFoundAndResolved: 1,
  });
});

it('wants a move reported once, of an order that makes it', () => {
  const move = { subject: '1.1.1.00 -> 2.2.2.11' };
  const kind = 'FIRST_SEEN_TRANSITION';
  expect(score([...ALL, row('order-4', kind, move)], kind)?.wronglyFound).toBe(1);
  expect(score([...ALL, row('order-1', kind, move)], kind)?.wronglyFound).toBe(1);
  expect(score([...ALL, row('order-1', kind, { subject: 'x -> y' })], kind)?.wronglyFound).toBe(1);
});
