/**
 * How orders go, as data. Every code of the interface's catalogue (section 2.4) occurs in at least one
 * scenario. Weights are per thousand orders of a channel, roughly; times are seconds at speed 1.
 */

/**
 * How a payment is made. The code does not carry it (section 2.4); the sandbox's endpoint configuration does.
 */
export const CHANNELS = ['acquiring', 'card', 'p2p', 'token', 'payout'] as const;
export type Channel = (typeof CHANNELS)[number];

/** A history item, and how long after the one before it. With a fourth number: only by that chance. */
export type Step = readonly [action: string, minSeconds: number, maxSeconds: number, chance?: number];

export interface Scenario {
  readonly name: string;
  readonly weights: Readonly<Partial<Record<Channel, number>>>;
  /** How far the order got before the scenario's own steps. */
  readonly from: 'opened' | 'accepted' | 'shown' | 'submitted';
  readonly steps: readonly Step[];
}

const OPENED: readonly Step[] = [
  ['1.0.0.00', 0, 0],
  ['1.1.1.00', 0.05, 0.4],
];
const ACCEPTED: readonly Step[] = [...OPENED, ['2.1.1.00', 0.3, 2.5]];
const SHOWN: readonly Step[] = [...ACCEPTED, ['3.0.1.00', 0.2, 1.5], ['3.0.1.51', 1, 12]];
/** The payer types the card on the gateway's page. */
const TYPED: readonly Step[] = [...SHOWN, ['3.0.1.53', 4, 50], ['3.1.1.55', 3, 40]];
/** The card is known: only the CVV, or only 3DS. */
const CONFIRMED: readonly Step[] = [...SHOWN, ['3.1.1.55', 3, 30]];
/** The payer goes to the bank's app, comes back and says "paid". */
const TRANSFERRED: readonly Step[] = [...SHOWN, ['3.0.1.52', 5, 60, 0.6], ['3.1.1.55', 20, 180]];

export const LEADS: Readonly<Record<Scenario['from'], Readonly<Record<Channel, readonly Step[]>>>> = {
  opened: { acquiring: OPENED, card: OPENED, p2p: OPENED, token: OPENED, payout: OPENED },
  accepted: { acquiring: ACCEPTED, card: ACCEPTED, p2p: ACCEPTED, token: ACCEPTED, payout: ACCEPTED },
  shown: { acquiring: SHOWN, card: SHOWN, p2p: SHOWN, token: SHOWN, payout: ACCEPTED },
  submitted: { acquiring: TYPED, card: CONFIRMED, p2p: TRANSFERRED, token: CONFIRMED, payout: ACCEPTED },
};

/** The merchant confirms our callback; it follows the final item and never reopens the order. */
const CONFIRM: Step = ['6.1.1.00', 0.4, 4];

const everywhere = (weight: number) => ({
  acquiring: weight,
  card: weight,
  p2p: weight,
  token: weight,
  payout: weight,
});
const deposits = (weight: number) => ({ acquiring: weight, card: weight, p2p: weight, token: weight });
const cards = (weight: number) => ({ acquiring: weight, card: weight, token: weight });

export const SCENARIOS: readonly Scenario[] = [
  // paid
  {
    name: 'paid_by_check',
    weights: { acquiring: 500, card: 540, p2p: 520, token: 610, payout: 700 },
    from: 'submitted',
    steps: [['4.1.3.00', 2, 25], CONFIRM],
  },
  {
    name: 'paid_by_callback',
    weights: { acquiring: 190, card: 200, p2p: 160, token: 220, payout: 200 },
    from: 'submitted',
    steps: [['5.1.3.00', 1.5, 12], CONFIRM],
  },
  {
    name: 'paid_other_amount',
    weights: { p2p: 20, acquiring: 1 },
    from: 'submitted',
    steps: [['5.1.3.35', 10, 90], CONFIRM],
  },
  {
    name: 'paid_amount_updated_later',
    weights: { p2p: 14, acquiring: 1 },
    from: 'submitted',
    steps: [['4.1.3.00', 2, 25], CONFIRM, ['5.1.3.35', 10, 120], CONFIRM],
  },
  // declined by issuer or risk
  {
    name: 'insufficient_funds',
    weights: { ...cards(70), payout: 4 },
    from: 'submitted',
    steps: [['4.1.4.63', 2, 15], CONFIRM],
  },
  {
    name: 'card_blocked',
    weights: { ...cards(18), payout: 10 },
    from: 'submitted',
    steps: [['4.1.4.61', 2, 15], CONFIRM],
  },
  {
    name: 'card_not_supported',
    weights: { ...cards(14), payout: 12 },
    from: 'submitted',
    steps: [['4.1.4.62', 2, 15], CONFIRM],
  },
  { name: 'antifraud', weights: everywhere(16), from: 'submitted', steps: [['4.1.4.41', 1, 10], CONFIRM] },
  {
    name: 'declined_unspecified',
    weights: everywhere(8),
    from: 'submitted',
    steps: [['4.1.4.00', 2, 40], CONFIRM],
  },
  // declined by a business rule
  {
    name: 'precheck_balance',
    weights: { ...deposits(1), payout: 20 },
    from: 'opened',
    steps: [['1.2.4.31', 0.05, 0.6], CONFIRM],
  },
  {
    name: 'precheck_limit',
    weights: everywhere(6),
    from: 'opened',
    steps: [['1.2.4.32', 0.05, 0.6], CONFIRM],
  },
  {
    name: 'precheck_routing',
    weights: everywhere(3),
    from: 'opened',
    steps: [['1.2.4.34', 0.05, 0.6], CONFIRM],
  },
  {
    name: 'create_balance',
    weights: { p2p: 8, payout: 8, acquiring: 1 },
    from: 'opened',
    steps: [['2.2.4.31', 0.4, 3], CONFIRM],
  },
  { name: 'create_limit', weights: everywhere(5), from: 'opened', steps: [['2.2.4.32', 0.4, 3], CONFIRM] },
  { name: 'create_currency', weights: everywhere(2), from: 'opened', steps: [['2.2.4.33', 0.4, 3], CONFIRM] },
  // given up by the payer
  {
    name: 'cancelled',
    weights: { acquiring: 32, card: 12, p2p: 45, token: 18 },
    from: 'shown',
    steps: [['3.0.4.54', 3, 60], CONFIRM],
  },
  {
    name: 'left_form',
    weights: { acquiring: 40, card: 16, p2p: 60, token: 20 },
    from: 'shown',
    steps: [['3.0.1.52', 3, 60], ['4.1.4.00', 240, 540], CONFIRM],
  },
  {
    name: 'left_on_confirm',
    weights: { acquiring: 14, card: 14, p2p: 12, token: 10 },
    from: 'submitted',
    steps: [['3.0.1.58', 5, 45], ['4.1.4.00', 240, 540], CONFIRM],
  },
  { name: 'never_finished', weights: deposits(3), from: 'shown', steps: [['3.0.1.52', 3, 60]] },
  { name: 'three_ds_failed', weights: cards(22), from: 'submitted', steps: [['3.2.4.56', 10, 90], CONFIRM] },
  { name: 'otp_failed', weights: deposits(10), from: 'submitted', steps: [['3.2.4.57', 10, 90], CONFIRM] },
  // faults on the gateway's side
  { name: 'create_timeout', weights: everywhere(3), from: 'opened', steps: [['2.2.4.11', 5, 30], CONFIRM] },
  {
    name: 'create_connection',
    weights: everywhere(2),
    from: 'opened',
    steps: [['2.2.4.12', 0.2, 5], CONFIRM],
  },
  {
    name: 'create_unavailable',
    weights: everywhere(2),
    from: 'opened',
    steps: [['2.2.4.13', 0.2, 3], CONFIRM],
  },
  {
    name: 'create_invalid_response',
    weights: everywhere(1),
    from: 'opened',
    steps: [['2.2.4.14', 0.3, 3], CONFIRM],
  },
  {
    name: 'create_invalid_request',
    weights: everywhere(1),
    from: 'opened',
    steps: [['2.2.4.15', 0.3, 2], CONFIRM],
  },
  {
    name: 'create_unauthorized',
    weights: everywhere(0.5),
    from: 'opened',
    steps: [['2.2.4.21', 0.2, 1], CONFIRM],
  },
  {
    name: 'create_forbidden',
    weights: everywhere(0.5),
    from: 'opened',
    steps: [['2.2.4.22', 0.2, 1], CONFIRM],
  },
  {
    name: 'check_unavailable',
    weights: everywhere(4),
    from: 'submitted',
    steps: [['4.2.2.13', 2, 10], ['4.2.2.13', 5, 20, 0.5], ['4.1.3.00', 5, 40], CONFIRM],
  },
  {
    name: 'check_invalid_request',
    weights: everywhere(1),
    from: 'submitted',
    steps: [['4.2.2.15', 2, 10], ['5.1.3.00', 5, 60], CONFIRM],
  },
  {
    name: 'check_unauthorized',
    weights: everywhere(0.5),
    from: 'submitted',
    steps: [['4.2.2.21', 2, 8], ['4.2.2.21', 5, 20, 0.6], ['5.1.3.00', 10, 90], CONFIRM],
  },
  {
    name: 'check_forbidden',
    weights: everywhere(0.5),
    from: 'submitted',
    steps: [['4.2.2.22', 2, 8], ['4.2.2.22', 5, 20, 0.6], ['5.1.3.00', 10, 90], CONFIRM],
  },
  {
    name: 'callback_signature',
    weights: everywhere(1),
    from: 'submitted',
    steps: [['5.2.2.16', 1.5, 10], ['5.2.2.16', 2, 10, 0.4], ['4.1.3.00', 10, 60], CONFIRM],
  },
  {
    name: 'callback_payload',
    weights: everywhere(1),
    from: 'submitted',
    steps: [['5.2.2.17', 1.5, 10], ['4.1.3.00', 10, 60], CONFIRM],
  },
];

/**
 * What can be made to go wrong on purpose: an incident turns a share of the new orders into its scenarios.
 * `traffic_drop` has none: it takes away that share of the sandbox's own traffic.
 */
export const INCIDENTS = {
  tech_timeout: { scenarios: ['create_timeout'], shows: '2.2.4.11' },
  authz: { scenarios: ['check_unauthorized', 'create_forbidden'], shows: '4.2.2.21 and 2.2.4.22' },
  signature: { scenarios: ['callback_signature'], shows: '5.2.2.16' },
  issuer_decline: {
    scenarios: ['insufficient_funds', 'card_blocked', 'card_not_supported'],
    shows: '4.1.4.61, 4.1.4.62 and 4.1.4.63',
  },
  payform_drop: {
    scenarios: ['left_form', 'left_on_confirm'],
    shows: '3.0.1.52 and 3.0.1.58 instead of a submitted form',
  },
  gateway_down: {
    scenarios: ['create_connection', 'create_unavailable', 'check_unavailable'],
    shows: '2.2.4.12, 2.2.4.13 and 4.2.2.13',
  },
  antifraud: { scenarios: ['antifraud'], shows: '4.1.4.41' },
  traffic_drop: { scenarios: [], shows: 'fewer orders' },
} as const satisfies Record<string, { scenarios: readonly string[]; shows: string }>;
export type IncidentName = keyof typeof INCIDENTS;
export const INCIDENT_NAMES = Object.keys(INCIDENTS) as IncidentName[];
