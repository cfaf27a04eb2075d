import type { FindingKind } from '../../schemas/findings.ts';
import { MINUTE, NOW, paid, type OrderFacts } from '../alerts/findings/support/scene.ts';

/** Orders whose sources agree, with what makes that hard to see, and orders with one contradiction each. */

const BEGAN = [
  [0, '1.0.0.00'],
  [1, '1.1.1.00'],
  [2, '2.1.1.00'],
  [6, '3.0.1.51'],
  [20, '3.1.1.55'],
] as const;
const success = { at: 31, status: 'Success' };

type Change = (n: number) => Partial<OrderFacts>;

/** What healthy orders look like. */
const HEALTHY: readonly Change[] = [
  () => ({}),
  // Late: a page leave in the middle, a repeat of the end and the confirmation, ten minutes after it.
  () => ({
    items: [...BEGAN, [30, '4.1.3.00'], [31, '6.1.1.00', 640], [25, '3.0.1.52', 640], [300, '4.1.3.00', 640]],
  }),
  // Declined.
  () => ({
    items: [...BEGAN, [30, '4.1.4.63'], [31, '6.1.1.00']],
    replies: [
      [5, 'Processing', '10.00', 'EUR'],
      [30, 'Failed', '10.00', 'EUR'],
    ],
    callbacks: [
      { at: 2, status: 'Processing' },
      { at: 31, status: 'Failed' },
    ],
  }),
  // Paid with another amount, and the history shows it.
  () => ({
    items: [...BEGAN, [30, '5.1.3.35'], [31, '6.1.1.00']],
    replies: [
      [5, 'Processing', '10.00', 'EUR'],
      [30, 'Success', '9.50', 'EUR'],
    ],
    callbacks: [{ ...success, amount: '9.50' }],
  }),
  // Abandoned before the payer submitted.
  () => ({
    items: BEGAN.slice(0, 4),
    replies: [[5, 'Processing', '10.00', 'EUR']],
    callbacks: [{ at: 2, status: 'Processing' }],
  }),
  // Retried callbacks, one of them under a key that was replaced, and a 404 before the gateway itself knew.
  () => ({
    callbacks: [
      { at: 2, status: 'Processing' },
      success,
      { ...success, at: 33 },
      { ...success, at: 400, verdict: 'valid_previous_key' },
    ],
    polls: [
      [2, 'not_found'],
      [5, 'ok'],
      [31, 'ok'],
      [700, 'ok'],
    ],
  }),
  // Nobody names a currency but the callback; the shop writes amounts without decimals.
  () => ({
    replies: [
      [5, 'Processing', '10.00'],
      [30, 'Success', '10.00'],
    ],
    watch: [0, '10', null],
  }),
];

const AFTER_CODES = [1, 2].flatMap((tens) => Array.from({ length: 9 }, (_, n) => `2.2.2.${tens}${n + 1}`));

/** How an order looks that has one contradiction of the kind, and no other. */
const CONTRADICTIONS: Readonly<Record<FindingKind, Change>> = {
  CALLBACK_MISSING: () => ({ callbacks: [{ at: 2, status: 'Processing' }] }),
  CALLBACK_WITHOUT_HISTORY: () => ({ items: [...BEGAN, [30, '4.1.3.00']] }),
  CALLBACK_FOR_UNKNOWN_ORDER: () => ({
    items: [],
    replies: [],
    polls: [
      [31, 'not_found'],
      [150, 'not_found'],
    ],
  }),
  STATUS_DISAGREES: (n) =>
    n % 2 === 0
      ? { replies: [[5, 'Processing', '10.00', 'EUR']] }
      : { callbacks: [success, { at: 35, status: 'Failed' }] },
  AMOUNT_DISAGREES: (n) =>
    n % 2 === 0 ? { callbacks: [{ ...success, amount: '11.00' }] } : { watch: [0, '11', 'EUR'] },
  CURRENCY_DISAGREES: () => ({ callbacks: [{ ...success, currency: 'USD' }] }),
  HISTORY_REWRITTEN: () => ({
    polls: [
      [31, 'ok'],
      [90, 'ok', 1],
    ],
  }),
  SUCCESS_AFTER_FAILED: () => ({
    items: [...BEGAN, [22, '4.1.4.00'], [30, '4.1.3.00'], [31, '6.1.1.00']],
    callbacks: [{ at: 23, status: 'Failed' }, success],
  }),
  STUCK_PROCESSING: () => ({
    items: BEGAN,
    replies: [[5, 'Processing', '10.00', 'EUR']],
    callbacks: [{ at: 2, status: 'Processing' }],
  }),
  SIGNATURE_CONFLICT: () => ({ callbacks: [success, { ...success, at: 60, body: 'another card' }] }),
  REPLAYED: (n) => ({
    began: NOW - 360 * MINUTE - n * 1000,
    callbacks: [success, { ...success, at: 300 * 60 }],
  }),
  // Two codes that no other order has, one after the other.
  FIRST_SEEN_TRANSITION: (n) => ({
    items: [
      ...BEGAN,
      [21, AFTER_CODES[Math.floor(n / AFTER_CODES.length) % AFTER_CODES.length] ?? ''],
      [22, AFTER_CODES[n % AFTER_CODES.length] ?? ''],
      [30, '4.1.3.00'],
      [31, '6.1.1.00'],
    ],
  }),
};

/** Codes in whose order a move can be new without the moves around them being new as well. */
export const LEARNT_MOVES: readonly (readonly [before: string, after: string])[] = AFTER_CODES.flatMap(
  (code) => [['3.1.1.55', code] as const, [code, '4.1.3.00'] as const],
);

/** Orders began between these, spread evenly. */
const FROM = NOW - 110 * MINUTE;
const TO = NOW - 60 * MINUTE;

const spread = (n: number, of: number): number => FROM + Math.floor(((TO - FROM) * n) / of);

/** The nth healthy order. */
export const healthyOrder = (n: number, of: number): OrderFacts =>
  paid(`healthy-${n}`, {
    items: [...BEGAN, [30, '4.1.3.00'], [31, '6.1.1.00']],
    began: spread(n, of),
    ...HEALTHY[n % HEALTHY.length]?.(n),
  });

/** The nth order with a contradiction of a kind. */
export function contradictoryOrder(kind: FindingKind, n: number, of: number): OrderFacts {
  const usual = { items: [...BEGAN, [30, '4.1.3.00'], [31, '6.1.1.00']] as const, began: spread(n, of) };
  return paid(`${kind}-${n}`, { ...usual, ...CONTRADICTIONS[kind](n) });
}
