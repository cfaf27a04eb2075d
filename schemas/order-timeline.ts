import { z } from 'zod';
import { CODE_FORMATS, ORDER_TYPES, OUTCOMES } from './dictionary.ts';
import { POLL_OUTCOMES, VERDICTS } from './rows.ts';
import { ID_KINDS, WATCH_PHASES } from './watch.ts';

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
const instant = z.string();

/** Which order is meant, as a person or a link says it. What is left out is searched for. */
export const orderQuerySchema = z.object({
  id: z.string().min(1).max(200),
  gateway: z.string().min(1).max(64).optional(),
  type: z.enum(ORDER_TYPES).optional(),
  /** @default the service's id, then the merchant's */
  by: z.enum(ID_KINDS).optional(),
});
export type OrderQuery = z.infer<typeof orderQuerySchema>;

const identity = z.object({
  gateway: z.string(),
  orderType: z.enum(ORDER_TYPES),
  /** The service's id; null for an order watched by the merchant's id that no reply has named yet. */
  externalId: z.string().nullable(),
  externalTransactionId: z.string().nullable(),
});
export type TimelineIdentity = z.infer<typeof identity>;

const event = z.object({
  time: instant,
  /** From the event before, in milliseconds; null for the first. */
  sincePreviousMs: z.number().nullable(),
  action: z.string(),
  format: z.enum(CODE_FORMATS),
  stage: z.string().nullable(),
  result: z.string().nullable(),
  state: z.string().nullable(),
  reasonCode: z.number().nullable(),
  reasonGroup: z.string().nullable(),
  reasonDetail: z.string().nullable(),
  catalogued: z.boolean(),
  description: z.string().nullable(),
  /** Distinguishes equal codes at the same time; from 0. */
  occurrence: z.number(),
  /** Index in the gateway's list when first seen. */
  listPosition: z.number(),
  observedAt: instant,
  /** First seen after a final state had been seen (interface document, section 2.4, rule 2). */
  late: z.boolean(),
  /** The latest event with state SUCCESS or FAILED: the order's outcome follows from it. */
  deciding: z.boolean(),
  spanId: z.string(),
});
export type TimelineEvent = z.infer<typeof event>;

const callback = z.object({
  contentHash: z.string(),
  verdict: z.enum(VERDICTS),
  /** What would make a `mismatch` verify: a name of SIGNATURE_CAUSES; `none` with another verdict. */
  signatureCause: z.string(),
  /** Does the newest status reply say the same status, and is the amount the order's? Null: no reply yet. */
  confirmed: z.boolean().nullable(),
  status: z.string().nullable(),
  /** As it was sent. */
  amount: z.string().nullable(),
  currency: z.string().nullable(),
  problem: z.string(),
  source: z.string(),
  firstReceivedAt: instant,
  lastReceivedAt: instant,
  deliveries: z.number(),
});

const polls = z.object({
  count: z.number(),
  /** Parts of the newest reply that could not be read: while there are some, the history is incomplete. */
  refusedItems: z.number(),
  outcomes: z.array(z.object({ outcome: z.enum(POLL_OUTCOMES), count: z.number() })),
  firstAt: instant.nullable(),
  last: z
    .object({
      at: instant,
      outcome: z.enum(POLL_OUTCOMES),
      httpStatus: z.number().nullable(),
      errorType: z.string(),
      durationMs: z.number(),
    })
    .nullable(),
});

const watch = z.object({
  phase: z.enum(WATCH_PHASES),
  /** Null once nothing more is planned. */
  nextPollAt: instant.nullable(),
});

/**
 * All that is known of one order: the body of `GET /orders/{id}` and of `gatewatch order ID --json`. Times
 * are UTC with microseconds, amounts are decimal text. The head's status and outcome are those of the newest
 * status reply.
 */
export const orderTimelineSchema = z.object({
  order: identity.extend({
    channel: z.string().nullable(),
    status: z.string().nullable(),
    outcome: z.enum(OUTCOMES).nullable(),
    reasonGroup: z.string().nullable(),
    reasonDetail: z.string().nullable(),
    amount: z.string().nullable(),
    currency: z.string().nullable(),
    currencySource: z.string().nullable(),
    firstSeenAt: instant.nullable(),
    createdAt: instant.nullable(),
    finalAt: instant.nullable(),
    settledAt: instant.nullable(),
    abandonedAt: instant.nullable(),
    lastReplyAt: instant.nullable(),
    traceId: z.string().nullable(),
  }),
  /** In time order, and list order within one instant. */
  events: z.array(event),
  /** By first arrival. */
  callbacks: z.array(callback),
  polls,
  /** The collector's plan for this order; null when it is not watched. */
  watch: watch.nullable(),
  /** Other orders that the query fits as well: name gateway, type and kind of id to see one. */
  alsoMatching: z.array(identity),
});
export type OrderTimeline = z.infer<typeof orderTimelineSchema>;
