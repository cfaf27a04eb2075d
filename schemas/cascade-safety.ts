import { z } from 'zod';
import { ORDER_TYPES, type OrderType } from './dictionary.ts';
import { ENDPOINTS } from './polling.ts';
import { POLL_OUTCOMES } from './rows.ts';
import { isTransactionId, TRANSACTION_ID_GRAMMAR } from './order-id.ts';
import { ID_KINDS, WATCH_PHASES } from './watch.ts';

/** May the payment be sent to another provider? Only `safe` says yes. */
export const SAFETY_VERDICTS = ['safe', 'unsafe', 'unknown'] as const;
export type SafetyVerdict = (typeof SAFETY_VERDICTS)[number];

interface SafetyRule {
  readonly verdict: SafetyVerdict;
  /** Of the interface document. */
  readonly section: string;
  /** For people, as a sentence. */
  readonly says: string;
}

/**
 * Everything that can decide whether an order may be cascaded, with the section of the interface document
 * that it follows from. Of several that apply the first one decides: what speaks for money that has moved or
 * may still move comes before what is merely not known, and `failed` holds only where nothing else does.
 * Also the label of a metric.
 */
export const SAFETY_RULES = {
  payment_succeeded: {
    verdict: 'unsafe',
    section: '3',
    says: 'The gateway says Success: the payment went through.',
  },
  success_in_history: {
    verdict: 'unsafe',
    section: '2.4',
    says: 'The payment history has an item with the state success.',
  },
  success_callback: {
    verdict: 'unsafe',
    section: '6.3',
    says: 'A callback that verifies said Success.',
  },
  success_seen_before: {
    verdict: 'unsafe',
    section: '3',
    says: 'An earlier status reply said Success.',
  },
  not_final: {
    verdict: 'unsafe',
    section: '1, rule 2',
    says: 'The payment is under way (Created or Processing): it may still succeed.',
  },
  ids_disagree: {
    verdict: 'unknown',
    section: '4.3 to 4.5',
    says: 'The ids lead to different orders.',
  },
  status_not_read: {
    verdict: 'unknown',
    section: '1, rule 1',
    says: 'A status request returned no valid status: the state of the payment is unknown.',
  },
  not_asked: {
    verdict: 'unknown',
    section: '1, rule 2',
    says: 'The gateway could not be asked: its request budget is used up, or it refuses our credentials.',
  },
  too_late: {
    verdict: 'unknown',
    section: '1, rule 1',
    says: 'There was no answer before the deadline.',
  },
  status_not_defined: {
    verdict: 'unknown',
    section: '3',
    says: 'The gateway names a status that the interface does not define.',
  },
  history_unreadable: {
    verdict: 'unknown',
    section: '2.4',
    says: 'The payment history has items that cannot be read: one of them may be a success.',
  },
  not_looked_up: {
    verdict: 'unknown',
    section: '6.2',
    says: 'The gateway says Failed, and whether an earlier reply or callback says otherwise could not be looked up.',
  },
  failed: {
    verdict: 'safe',
    section: '1, rule 2',
    says: 'Every status request just now says Failed, and nothing that is known says otherwise.',
  },
} as const satisfies Readonly<Record<string, SafetyRule>>;
export type SafetyRuleName = keyof typeof SAFETY_RULES;
export const SAFETY_RULE_NAMES = Object.keys(SAFETY_RULES) as SafetyRuleName[];

/** What a reader of `safe` should know besides. */
export const SAFETY_CAVEATS = {
  recent_failure:
    'The payment failed within the last ten minutes: items may still be appended to its history (section 2.4, rule 2). That does not change the status.',
  no_failed_item: 'The history has no item with the state failed yet.',
  legacy_codes: 'The history has codes of the legacy format, which is not decoded (section 9).',
  one_id: 'Only one of the two ids is known: the other endpoint was not asked.',
} as const;
export type SafetyCaveat = keyof typeof SAFETY_CAVEATS;
const CAVEATS = Object.keys(SAFETY_CAVEATS) as [SafetyCaveat, ...SafetyCaveat[]];

/** Milliseconds that `?deadline_ms=` and `cascadeSafety.deadlineMs` may say. */
export const DEADLINE_MS = { min: 50, max: 30_000 } as const;

/** Which order is meant; what is left out is what is known of the order, else the defaults below. */
export const cascadeQuerySchema = z.object({
  id: z.string().min(1).max(200).refine(isTransactionId, TRANSACTION_ID_GRAMMAR),
  /** @default the only one */
  gateway: z.string().min(1).max(64).optional(),
  /** @default Deposit */
  type: z.enum(ORDER_TYPES).optional(),
  /** @default external-id */
  by: z.enum(ID_KINDS).optional(),
  /** Shortens the deadline of the configuration. */
  deadline_ms: z
    .string()
    .regex(/^\d{1,5}$/, `a number of milliseconds from ${DEADLINE_MS.min} to ${DEADLINE_MS.max}`)
    .transform(Number)
    .refine(
      (ms) => ms >= DEADLINE_MS.min && ms <= DEADLINE_MS.max,
      `a number of milliseconds from ${DEADLINE_MS.min} to ${DEADLINE_MS.max}`,
    )
    .optional(),
});
export type CascadeQuery = z.output<typeof cascadeQuerySchema>;

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
const instant = z.string();

const statusRequest = z.object({
  endpoint: z.enum(ENDPOINTS),
  id: z.string(),
  /** Null when the gateway was not asked. */
  askedAt: instant.nullable(),
  durationMs: z.number().nullable(),
  httpStatus: z.number().nullable(),
  outcome: z.enum(POLL_OUTCOMES),
  /** `timeout`, `http_404`, `id_mismatch`, `budget`, `circuit_open`, ...; '' when there is nothing to say. */
  errorType: z.string(),
  orderStatus: z.string().nullable(),
  historyItems: z.number().nullable(),
  /** The latest item with the state success or failed. */
  decidingItem: z
    .object({ time: instant, action: z.string(), description: z.string().nullable() })
    .nullable(),
});
export type StatusRequestEvidence = z.infer<typeof statusRequest>;

const known = z.object({
  /** Of the newest status reply that was stored or is in memory. */
  status: z.string().nullable(),
  lastReplyAt: instant.nullable(),
  outcome: z.string().nullable(),
  historyItems: z.number(),
  /** When an item with the state success happened. */
  successItemAt: instant.nullable(),
  /** The newest callback that verifies. */
  callback: z.object({ status: z.string().nullable(), receivedAt: instant }).nullable(),
  /** When a callback that verifies last said Success. */
  successCallbackAt: instant.nullable(),
  phase: z.enum(WATCH_PHASES).nullable(),
  amount: z.string().nullable(),
  currency: z.string().nullable(),
});
export type KnownEvidence = z.infer<typeof known>;

/**
 * The body of `GET /orders/{id}/cascade-safety`, and of `gatewatch verify ID --json` for each order. Times
 * are UTC.
 */
export const cascadeAnswerSchema = z.object({
  verdict: z.enum(SAFETY_VERDICTS),
  /** What decides. */
  rule: z.enum(SAFETY_RULE_NAMES as [SafetyRuleName, ...SafetyRuleName[]]),
  /** Section of the interface document that the rule follows from. */
  section: z.string(),
  /** The rule as a sentence. */
  reason: z.string(),
  caveats: z.array(z.object({ caveat: z.enum(CAVEATS), says: z.string() })),
  /** Since when the payment is final, by the history that was read; null where that does not say. */
  since: instant.nullable(),
  order: z.object({
    gateway: z.string(),
    orderType: z.enum(ORDER_TYPES),
    externalId: z.string().nullable(),
    externalTransactionId: z.string().nullable(),
  }),
  answeredAt: instant,
  /** The status requests that were made for this answer. */
  requests: z.array(statusRequest),
  /** What was known before; null: could not be looked up. */
  known: known.nullable(),
});
export type CascadeAnswer = z.infer<typeof cascadeAnswerSchema>;

/** What the store has of an order. Ids are '' where they are not known. */
export interface OrderRecord extends KnownEvidence {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly externalId: string;
  readonly externalTransactionId: string;
  /** The id that was looked for leads to other orders as well. */
  readonly isAmbiguous: boolean;
}

/** What becomes of a question: an answer, or why there is none. */
export type CascadeResult =
  | { readonly ok: true; readonly answer: CascadeAnswer }
  | { readonly ok: false; readonly conflict: boolean; readonly detail: string };
