import { z } from 'zod';
import { refuse, type Decoded } from './decoded.ts';
import { ORDER_TYPES } from './dictionary.ts';
import { canonicalId, isExternalId, isTransactionId } from './order-id.ts';
import { firstProblem, type Problem } from './problem.ts';
import { ID_KINDS } from './watch.ts';

/**
 * What a collector writes to the watch topic when an order is named that another one owns: "read this order
 * now". The header `gatewatch-hint` marks it, so that it is no watch message (decision 42).
 */
export const ownerHintSchema = z
  .object({
    gateway: z.string().min(1).max(64),
    orderType: z.enum(ORDER_TYPES),
    idKind: z.enum(ID_KINDS),
    orderId: z.string().min(1).max(200),
    /**
     * Who named the order: a callback that verified, or a watch message. Its amount and currency are
     * theirs.
     */
    cause: z.enum(['callback', 'watch']),
    /** Of a callback. */
    status: z.string().max(64).optional(),
    /** When the callback was received, in microseconds since 1970. */
    calledAt: z.int().nonnegative().optional(),
    externalTransactionId: z
      .string()
      .max(200)
      .refine((id) => id === '' || isTransactionId(id))
      .optional(),
    channel: z.string().max(64).optional(),
    amount: z
      .string()
      .max(64)
      .regex(/^-?\d+(\.\d+)?$/)
      .optional(),
    currency: z.string().max(16).optional(),
  })
  .refine(
    ({ idKind, orderId }) => (idKind === 'external-id' ? isExternalId(orderId) : isTransactionId(orderId)),
    {
      path: ['orderId'],
      message: 'an id of that kind',
    },
  )
  .transform((hint) =>
    hint.idKind === 'external-id' ? { ...hint, orderId: canonicalId(hint.orderId) } : hint,
  );
export type OwnerHint = z.infer<typeof ownerHintSchema>;

const malformed = (problem: Problem) => refuse('hint_malformed', problem);

/** Reads a hint of another collector. Total: any bytes give a value. */
export function decodeOwnerHint(value: Uint8Array | null): Decoded<{ readonly hint: OwnerHint }> {
  let input: unknown;
  try {
    input = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value ?? new Uint8Array()));
  } catch {
    const received = `${value?.byteLength ?? 0} bytes of something else`;
    return malformed({ field: 'body', received, expected: 'JSON' });
  }
  const parsed = ownerHintSchema.safeParse(input);
  return parsed.success ? { ok: true, hint: parsed.data } : malformed(firstProblem(parsed.error, input));
}
