/**
 * The dictionary of history codes `A.C.B.RR` (interface document, section 2.4): the one place where stages,
 * results, states, reasons and the catalogue are written down. Decoder, enums, span attributes, value
 * mappings, measures, rules and docs all derive from it. A new reason code is one row in REASONS.
 */

/** Segment A. Where in the payment's life the event happened. */
export const STAGES = [
  { code: 1, name: 'INTERNAL', label: 'internal processing' },
  { code: 2, name: 'GATEWAY_CREATE', label: 'gateway create' },
  { code: 3, name: 'PAYFORM', label: 'payment form' },
  { code: 4, name: 'CHECK', label: 'status check' },
  { code: 5, name: 'GATEWAY_CALLBACK', label: 'gateway callback' },
  { code: 6, name: 'MERCHANT_CALLBACK', label: 'merchant callback' },
] as const;

/** Segment C. How the operation itself ended (not the payment). */
export const RESULTS = [
  { code: 0, name: 'INFO', label: 'noted' },
  { code: 1, name: 'SUCCESS', label: 'succeeded' },
  { code: 2, name: 'FAILURE', label: 'failed' },
] as const;

/** Segment B. The state of the payment after the event. */
export const STATES = [
  { code: 0, name: 'INIT', label: 'not yet created' },
  { code: 1, name: 'CREATED', label: 'created' },
  { code: 2, name: 'PROCESSING', label: 'in processing' },
  { code: 3, name: 'SUCCESS', label: 'paid' },
  { code: 4, name: 'FAILED', label: 'failed' },
] as const;

/** The ranges of segment RR. A code inside a range that REASONS lacks keeps its group. */
export const REASON_GROUPS = [
  { name: 'NONE', from: 0, to: 0, label: 'no reason given' },
  { name: 'TECH', from: 11, to: 19, label: 'technical fault' },
  { name: 'AUTHZ', from: 21, to: 29, label: 'access refused' },
  { name: 'BUSINESS', from: 31, to: 39, label: 'business rule' },
  { name: 'RISK', from: 41, to: 49, label: 'risk decision' },
  { name: 'USER', from: 51, to: 59, label: "payer's action" },
  { name: 'ISSUER', from: 61, to: 69, label: 'issuer decision' },
] as const;

/** Segment RR. `label` continues the sentence "... because of". */
export const REASONS = [
  { code: 0, group: 'NONE', detail: 'UNSPECIFIED', label: 'no reason given' },
  { code: 11, group: 'TECH', detail: 'TIMEOUT', label: 'no answer in time' },
  { code: 12, group: 'TECH', detail: 'CONNECTION_FAIL', label: 'connection could not be made' },
  { code: 13, group: 'TECH', detail: 'SERVER_UNAVAILABLE', label: 'server unavailable' },
  { code: 14, group: 'TECH', detail: 'INVALID_RESPONSE', label: 'answer could not be understood' },
  { code: 15, group: 'TECH', detail: 'INVALID_REQUEST', label: 'request was refused as malformed' },
  { code: 16, group: 'TECH', detail: 'INVALID_SIGNATURE', label: 'signature does not match' },
  { code: 17, group: 'TECH', detail: 'INVALID_PAYLOAD', label: 'payload could not be understood' },
  { code: 21, group: 'AUTHZ', detail: '401_UNAUTHORIZED', label: 'credentials refused (401)' },
  { code: 22, group: 'AUTHZ', detail: '403_FORBIDDEN', label: 'access forbidden (403)' },
  { code: 31, group: 'BUSINESS', detail: 'BALANCE', label: 'balance too low' },
  { code: 32, group: 'BUSINESS', detail: 'LIMIT', label: 'limit reached' },
  { code: 33, group: 'BUSINESS', detail: 'CURRENCY', label: 'currency not accepted' },
  { code: 34, group: 'BUSINESS', detail: 'ROUTING_BLOCKED', label: 'routing blocked' },
  { code: 35, group: 'BUSINESS', detail: 'AMOUNT_UPDATED', label: 'amount was changed' },
  { code: 41, group: 'RISK', detail: 'ANTIFRAUD_HARD', label: 'declined by antifraud' },
  { code: 51, group: 'USER', detail: 'PAGE_VISIT', label: 'page opened' },
  { code: 52, group: 'USER', detail: 'PAGE_LEAVE', label: 'page left' },
  { code: 53, group: 'USER', detail: 'ENTER_PERSONAL_DATA', label: 'personal data entered' },
  { code: 54, group: 'USER', detail: 'CLICK_CANCEL', label: 'cancelled by the payer' },
  { code: 55, group: 'USER', detail: 'CLICK_SUBMIT', label: 'submitted by the payer' },
  { code: 56, group: 'USER', detail: '3DS_FAILED', label: '3-D Secure failed' },
  { code: 57, group: 'USER', detail: 'OTP_FAILED', label: 'one-time password failed' },
  { code: 58, group: 'USER', detail: 'LEAVE_ON_CONFIRM', label: 'left at confirmation' },
  { code: 61, group: 'ISSUER', detail: 'CARD_BLOCKED', label: 'card blocked' },
  { code: 62, group: 'ISSUER', detail: 'CARD_NOT_SUPPORTED', label: 'card not supported' },
  { code: 63, group: 'ISSUER', detail: 'INSUFFICIENT_FUNDS', label: 'insufficient funds' },
] as const;

export interface AnyReason {
  readonly code: number;
  readonly group: ReasonGroup;
  readonly detail: string;
  readonly label: string;
}

/** Every reason that a code can name: those of REASONS, and the rest of each range by the range's words. */
export const ALL_REASONS: readonly AnyReason[] = REASON_GROUPS.flatMap(({ name, from, to, label }) =>
  Array.from({ length: to - from + 1 }, (_, index) => {
    const code = from + index;
    const known: AnyReason | undefined = REASONS.find((reason) => reason.code === code);
    return (
      known ?? {
        code,
        group: name,
        detail: `UNKNOWN_${code}`,
        label: `${label} ${code}, which the dictionary does not know`,
      }
    );
  }),
);

/** The catalogue of typical codes. Not every flow emits every code; a code outside it is still decoded. */
export const CATALOGUE = [
  { action: '1.0.0.00', description: 'Order received, internal processing begins' },
  { action: '1.1.1.00', description: 'Order created inside the service' },
  { action: '1.2.4.31', description: 'Rejected by the pre-check: balance too low' },
  { action: '1.2.4.32', description: 'Rejected by the pre-check: limit reached' },
  { action: '1.2.4.34', description: 'Rejected by the pre-check: routing blocked' },
  { action: '2.1.1.00', description: 'Payment created at the gateway' },
  { action: '2.2.4.11', description: 'Gateway did not answer the create request in time' },
  { action: '2.2.4.12', description: 'No connection to the gateway on create' },
  { action: '2.2.4.13', description: 'Gateway unavailable on create' },
  { action: '2.2.4.14', description: 'Gateway answered the create request with something unreadable' },
  { action: '2.2.4.15', description: 'Gateway refused the create request as malformed' },
  { action: '2.2.4.21', description: 'Gateway refused our credentials on create (401)' },
  { action: '2.2.4.22', description: 'Gateway forbade the create request (403)' },
  { action: '2.2.4.31', description: 'Gateway declined the create request: balance too low' },
  { action: '2.2.4.32', description: 'Gateway declined the create request: limit reached' },
  { action: '2.2.4.33', description: 'Gateway declined the create request: currency not accepted' },
  { action: '3.0.1.00', description: 'Payment form shown to the payer' },
  { action: '3.0.1.51', description: 'Payer opened the payment form' },
  { action: '3.0.1.52', description: 'Payer left the payment form' },
  { action: '3.0.1.53', description: 'Payer entered personal data' },
  { action: '3.0.4.54', description: 'Payer cancelled on the payment form' },
  { action: '3.1.1.55', description: 'Payer submitted the payment form' },
  { action: '3.2.4.56', description: 'Payer failed 3-D Secure' },
  { action: '3.2.4.57', description: 'Payer failed the one-time password' },
  { action: '3.0.1.58', description: 'Payer left at the confirmation step' },
  { action: '4.2.2.13', description: 'Status check failed: gateway unavailable, payment still processing' },
  { action: '4.2.2.15', description: 'Status check refused as malformed, payment still processing' },
  { action: '4.2.2.21', description: 'Status check refused our credentials (401), payment still processing' },
  { action: '4.2.2.22', description: 'Status check forbidden (403), payment still processing' },
  { action: '4.1.3.00', description: 'Status check found the payment paid' },
  { action: '4.1.4.00', description: 'Status check found the payment failed, no reason given' },
  { action: '4.1.4.61', description: 'Status check found the payment declined: card blocked' },
  { action: '4.1.4.62', description: 'Status check found the payment declined: card not supported' },
  { action: '4.1.4.63', description: 'Status check found the payment declined: insufficient funds' },
  { action: '4.1.4.41', description: 'Status check found the payment declined by antifraud' },
  {
    action: '5.2.2.16',
    description: 'Gateway callback with a signature that does not match, payment still processing',
  },
  {
    action: '5.2.2.17',
    description: 'Gateway callback with an unreadable payload, payment still processing',
  },
  { action: '5.1.3.00', description: 'Gateway callback reported the payment paid' },
  { action: '5.1.3.35', description: 'Gateway callback reported the payment paid with a changed amount' },
  { action: '6.1.1.00', description: 'Merchant callback confirmed' },
] as const;

export type Stage = (typeof STAGES)[number]['name'];
export type Result = (typeof RESULTS)[number]['name'];
export type State = (typeof STATES)[number]['name'];
export type ReasonGroup = (typeof REASON_GROUPS)[number]['name'];

/** How an `action` string reads: the v2 code, the older dotted form, or neither. */
export const CODE_FORMATS = ['v2', 'legacy', 'unrecognized'] as const;
export type CodeFormat = (typeof CODE_FORMATS)[number];

/** `orderType` in replies and callbacks (section 2.3). */
export const ORDER_TYPES = ['Deposit', 'Withdrawal'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** Status values seen in replies and callbacks (section 3). Others are kept as they come. */
export const ORDER_STATUSES = ['Created', 'Processing', 'Success', 'Failed'] as const;

/**
 * Status values after which no other one is expected. History may still grow for some minutes (section 2.4,
 * rule 2).
 */
export const FINAL_STATUSES: readonly string[] = ['Success', 'Failed'];

/** Outcome of an order by its deciding item: see OUTCOME_OF_GROUP and `measures.ts`. */
export const OUTCOMES = [
  'succeeded',
  'technical_failure',
  'business_failure',
  'risk_decline',
  'user_abandoned',
  'issuer_decline',
  'unspecified_failure',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Outcome of an order whose deciding item has state FAILED, by that item's reason group. */
export const OUTCOME_OF_GROUP: Readonly<Record<ReasonGroup, Outcome>> = {
  NONE: 'unspecified_failure',
  TECH: 'technical_failure',
  AUTHZ: 'technical_failure',
  BUSINESS: 'business_failure',
  RISK: 'risk_decline',
  USER: 'user_abandoned',
  ISSUER: 'issuer_decline',
};
