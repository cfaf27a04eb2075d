import * as fc from 'fast-check';
import type { ReplyContext } from '../../../collector/decode/read-reply.ts';
import { decodeStatusReply, type DecodedReply } from '../../../collector/decode/status-reply.ts';
import { NOTHING_KNOWN } from '../../../collector/decode/known-history.ts';
import { POLICY } from '../../support/fingerprint.ts';
import type { HistoryEventRow } from '../../../schemas/rows.ts';

export const ORDER_ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
export const OBSERVED_AT = Date.UTC(2026, 10, 21, 11) * 1000;

/** A history item as a gateway sends it. */
export interface Item {
  time: string;
  action: string;
}

export const context = (changes: Partial<ReplyContext> = {}): ReplyContext => ({
  gateway: 'acme-eu',
  orderType: 'Deposit',
  idKind: 'external-id',
  orderId: ORDER_ID,
  channel: 'p2p',
  externalTransactionId: 'tx-1',
  known: NOTHING_KNOWN,
  observedAt: OBSERVED_AT,
  source: 'poll',
  policy: POLICY,
  ...changes,
});

/** A status reply of the interface, section 2.3, as text. */
export function replyText(
  orderHistory: readonly unknown[] | null,
  changes: Record<string, unknown> = {},
): string {
  return JSON.stringify({
    externalId: ORDER_ID,
    orderStatus: 'Processing',
    amount: 100.5,
    currency: 'EUR',
    orderType: 'Deposit',
    externalParams: { cardToken: null, cardHolder: 'A B', cardNumber: '411111******1111' },
    orderHistory,
    ...changes,
  });
}

export type Accepted = Extract<DecodedReply, { ok: true }>;

/** Decodes a reply that must be accepted. */
export function accept(body: string, changes: Partial<ReplyContext> = {}): Accepted {
  const decoded = decodeStatusReply(body, context(changes));
  if (!decoded.ok) throw new Error(`refused: ${JSON.stringify(decoded.rejects)}`);
  return decoded;
}

/** Identity of an event within its order, as the table has it. */
export const identityOf = (row: HistoryEventRow) =>
  JSON.stringify([row.event_time, row.action, row.occurrence]);

/** `10:15:SS.ffffff` of one day. */
export const at = (seconds: number, micros = 0) =>
  `2026-11-21T10:${String(15 + Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}.${String(micros).padStart(6, '0')}Z`;

/** A few instants and a few codes, so that equal times and equal pairs are common. */
export const item: fc.Arbitrary<Item> = fc.record({
  time: fc.nat(4).map((seconds) => at(seconds)),
  action: fc.constantFrom(
    '1.0.0.00',
    '2.2.4.11',
    '3.0.4.54',
    '4.1.3.00',
    '4.1.4.63',
    '6.1.1.00',
    '1.2.3.4',
    'a|0|0',
    'b\\n\n',
  ),
});

/** A history in time order, as rule 3 of section 2.4 promises. */
export const orderedHistory = fc
  .array(item, { maxLength: 12 })
  .map((items) => items.toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time))));
/** A history in any order. */
export const anyHistory = fc.array(item, { maxLength: 12 });
