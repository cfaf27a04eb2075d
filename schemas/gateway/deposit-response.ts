import { z } from 'zod';

const created = { externalId: z.string().min(1).max(200), orderStatus: z.string().min(1).max(64) };

/**
 * Reply to a P2P create request (section 2.2): where the payer sends the money, and a form filled in with it.
 */
export const p2pResponseSchema = z.object({
  ...created,
  paymentDetails: z.object({ card: z.string(), fio: z.string(), bank: z.string(), formUrl: z.url() }),
});
export type P2pResponse = z.infer<typeof p2pResponseSchema>;

/** Reply to a token create request (section 2.2): a form where only the CVV is asked for. */
export const tokenResponseSchema = z.object({
  ...created,
  paymentDetails: z.object({ formUrl: z.url() }),
});
export type TokenResponse = z.infer<typeof tokenResponseSchema>;

/**
 * Reply to an acquiring create request. The interface says only that it contains a link for 3DS
 * authentication (section 2.2); the place of the link, `paymentDetails.threeDsUrl`, is the sandbox's
 * assumption.
 */
export const acquiringResponseSchema = z.object({
  ...created,
  paymentDetails: z.object({ threeDsUrl: z.url() }),
});
export type AcquiringResponse = z.infer<typeof acquiringResponseSchema>;
