import { z } from 'zod';

/**
 * Keys of `additionalFields` that the interface names (section 2.1). The full list is not shown there: others
 * pass.
 */
export const ADDITIONAL_FIELD_KEYS = [
  'type',
  'cardNumber',
  'cardHolder',
  'cardCvv',
  'cardExpireMonth',
  'cardExpireYear',
  'payeerIdentifier',
  'email',
  'cardStorageToken',
] as const;
export type AdditionalFieldKey = (typeof ADDITIONAL_FIELD_KEYS)[number];

/** The keys that carry card data. Only merchants holding PCI DSS may send them (section 5, item 4). */
export const CARD_FIELD_KEYS = [
  'cardNumber',
  'cardHolder',
  'cardCvv',
  'cardExpireMonth',
  'cardExpireYear',
] as const satisfies readonly AdditionalFieldKey[];

const callbackAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2000);

/**
 * Body of a deposit create request (section 2.1). Which fields are required, the currencies and the numeric
 * format of amount are not shown by the interface: amount, currency and externalTransactionId are taken as
 * required, amount as a positive number of at most two decimals, currency as three capital letters.
 */
export const depositRequestSchema = z.object({
  amount: z
    .number()
    .positive()
    .max(1e12)
    .refine((amount) => Math.round(amount * 100) / 100 === amount, 'must have at most two decimals'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters'),
  externalTransactionId: z
    .string()
    .min(1)
    .max(200)
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    .regex(/^[^\u0000-\u001f\u007f]+$/, 'must not contain control characters'),
  callbackUrl: callbackAddress.nullish(),
  successRedirectUrl: callbackAddress.nullish(),
  failedRedirectUrl: callbackAddress.nullish(),
  processingRedirectUrl: callbackAddress.nullish(),
  additionalFields: z
    .array(z.object({ key: z.string().min(1).max(100), value: z.string().max(2000) }))
    .max(100)
    .nullish(),
});
export type DepositRequest = z.infer<typeof depositRequestSchema>;

/** The value of one additional field, or undefined. The last one wins when a key comes twice. */
export function additionalField(request: DepositRequest, key: AdditionalFieldKey): string | undefined {
  return request.additionalFields?.findLast((field) => field.key === key)?.value;
}
