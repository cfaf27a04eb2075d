import { z } from 'zod';
import { isSafeId } from '../order-id.ts';

/**
 * One item of `orderHistory` (interface document, section 2.4): `time` is ISO 8601, UTC when it names no
 * zone; `action` is the code. Both stay text here: the decoder judges them item by item, so one bad item
 * never costs the others.
 */
export const historyItemSchema = z.object({ time: z.string(), action: z.string() });
export type HistoryItem = z.infer<typeof historyItemSchema>;

/**
 * The parts of a status reply that we read (sections 2.3, 4.3-4.5). An allow-list: card data and tokens in
 * `externalParams` are never parsed. `orderHistory` items are validated one by one afterwards.
 */
export const statusReplySchema = z.object({
  externalId: z.string().min(1).max(200).refine(isSafeId, 'an id that can stand in a path'),
  orderStatus: z.string().min(1).max(64),
  // Judged one by one afterwards: an odd field that is not needed never costs status and history.
  externalTransactionId: z.unknown().optional(),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
  orderType: z.unknown().optional(),
  orderHistory: z.array(z.unknown()).max(10_000).nullish(),
});
export type StatusReply = z.infer<typeof statusReplySchema>;

/** The whole reply as a gateway sends it: what the sandbox writes. Shapes of section 2.3. */
export interface FullStatusReply {
  externalId: string;
  externalTransactionId: string;
  orderStatus: string;
  amount: number;
  currency: string;
  orderType: 'Deposit' | 'Withdrawal';
  externalParams: ExternalParams;
  orderHistory: HistoryItem[];
}

/** `externalParams` of section 2.3. Written by the sandbox, never read by the collector. */
export interface ExternalParams {
  cardToken: string | null;
  cardStorageToken: string | null;
  cardHolder: string;
  /** Card mask, first six and last four digits. */
  cardNumber: string;
}
