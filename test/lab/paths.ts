/**
 * The ways an order can go, each with the codes of its history. All items lie within the minute in which the
 * order begins, so that counts per minute add up to counts of distinct orders.
 */
export interface Path {
  readonly name: string;
  /** Share of all orders on a healthy day. */
  readonly share: number;
  readonly codes: readonly string[];
  /** The gateway's clock is so much ahead of ours when it writes the items. @default 0 */
  readonly aheadSeconds?: number;
  /** Verdict on the callback that we receive for the order; without one there is no callback. */
  readonly callback?: 'valid' | 'mismatch' | 'valid_previous_key';
  /** How strongly the share wanders over hours and days: standard deviation of its logarithm. @default 0.1 */
  readonly wander?: number;
  /** Share at night relative to day. @default 1 */
  readonly atNight?: number;
}

const CREATED = ['1.0.0.00', '1.1.1.00', '2.1.1.00'];
const FORM = [...CREATED, '3.0.1.00', '3.0.1.51', '3.0.1.53'];
const SUBMITTED = [...FORM, '3.1.1.55'];
const PAID = ['4.1.3.00', '5.1.3.00', '6.1.1.00'];
const REFUSED = ['1.0.0.00', '1.1.1.00'];

const MOST: readonly Path[] = [
  { name: 'paidP2p', share: 0.14, codes: [...CREATED, ...PAID], callback: 'valid' },
  { name: 'paidAmountChanged', share: 0.004, codes: [...CREATED, '4.1.3.00', '5.1.3.35', '6.1.1.00'], callback: 'valid' },
  { name: 'paidAfterCheckUnavailable', share: 0.004, codes: [...SUBMITTED, '4.2.2.13', ...PAID], callback: 'valid', wander: 0.3 },
  { name: 'paidAfterCheckTimeout', share: 0.002, codes: [...SUBMITTED, '4.2.2.11', ...PAID], callback: 'valid', wander: 0.3 },
  { name: 'paidAfterCheckRefused', share: 0.0001, codes: [...SUBMITTED, '4.2.2.15', ...PAID], callback: 'valid' },
  { name: 'paidAfterCheck401', share: 0.000_02, codes: [...SUBMITTED, '4.2.2.21', ...PAID], callback: 'valid' },
  { name: 'paidAfterCheck403', share: 0.000_02, codes: [...SUBMITTED, '4.2.2.22', ...PAID], callback: 'valid' },
  { name: 'paidAfterBadSignature', share: 0.0002, codes: [...SUBMITTED, '5.2.2.16', ...PAID], callback: 'valid' },
  { name: 'paidAfterBadPayload', share: 0.0002, codes: [...SUBMITTED, '5.2.2.17', ...PAID], callback: 'valid' },
  { name: 'paidBadCallback', share: 0.000_05, codes: [...SUBMITTED, ...PAID], callback: 'mismatch' },
  { name: 'paidOldKey', share: 0.000_000_1, codes: [...SUBMITTED, ...PAID], callback: 'valid_previous_key' },
  { name: 'paidUnconfirmed', share: 0.003, codes: [...SUBMITTED, '4.1.3.00', '5.1.3.00'], callback: 'valid' },
  { name: 'paidClockAhead', share: 0.000_02, codes: [...SUBMITTED, ...PAID], callback: 'valid', aheadSeconds: 12 },
  { name: 'failedThenPaid', share: 0.000_000_1, codes: [...SUBMITTED, '4.1.4.00', '4.1.3.00'], callback: 'valid' },
  { name: 'cardBlocked', share: 0.03, codes: [...SUBMITTED, '4.1.4.61'], callback: 'valid', atNight: 1.3 },
  { name: 'cardNotSupported', share: 0.02, codes: [...SUBMITTED, '4.1.4.62'], callback: 'valid' },
  { name: 'insufficientFunds', share: 0.08, codes: [...SUBMITTED, '4.1.4.63'], callback: 'valid', atNight: 1.4 },
  { name: 'antifraud', share: 0.03, codes: [...SUBMITTED, '4.1.4.41'], callback: 'valid', atNight: 1.5 },
  { name: 'declined', share: 0.015, codes: [...SUBMITTED, '4.1.4.00'], callback: 'valid' },
  { name: 'unknownDecline', share: 0.000_02, codes: [...SUBMITTED, '4.1.4.64'], callback: 'valid' },
  { name: 'threeDsFailed', share: 0.03, codes: [...SUBMITTED, '3.2.4.56'], callback: 'valid', atNight: 1.2 },
  { name: 'otpFailed', share: 0.015, codes: [...SUBMITTED, '3.2.4.57'], callback: 'valid' },
  { name: 'leftOnConfirm', share: 0.02, codes: [...SUBMITTED, '3.0.1.58', '4.1.4.00'], callback: 'valid' },
  { name: 'cancelled', share: 0.03, codes: [...FORM, '3.0.4.54'], callback: 'valid' },
  { name: 'leftForm', share: 0.03, codes: [...FORM, '3.0.1.52', '4.1.4.00'], callback: 'valid' },
  { name: 'balance', share: 0.0005, codes: [...REFUSED, '2.2.4.31'], callback: 'valid' },
  { name: 'limit', share: 0.008, codes: [...REFUSED, '2.2.4.32'], callback: 'valid', wander: 0.2 },
  { name: 'currency', share: 0.0001, codes: [...REFUSED, '2.2.4.33'], callback: 'valid' },
  { name: 'routingBlocked', share: 0.001, codes: ['1.0.0.00', '1.2.4.34'], callback: 'valid' },
  { name: 'createTimeout', share: 0.0025, codes: [...REFUSED, '2.2.4.11'], wander: 0.3 },
  { name: 'connectionFailed', share: 0.001, codes: [...REFUSED, '2.2.4.12'], wander: 0.3 },
  { name: 'serverUnavailable', share: 0.0015, codes: [...REFUSED, '2.2.4.13'], wander: 0.3 },
  { name: 'invalidResponse', share: 0.0002, codes: [...REFUSED, '2.2.4.14'] },
  { name: 'invalidRequest', share: 0.0002, codes: [...REFUSED, '2.2.4.15'] },
  { name: 'create401', share: 0.000_02, codes: [...REFUSED, '2.2.4.21'] },
  { name: 'create403', share: 0.000_02, codes: [...REFUSED, '2.2.4.22'] },
  { name: 'stuck', share: 0.003, codes: SUBMITTED },
]; // prettier-ignore

/** All paths; the shares sum to one. */
export const PATHS: readonly Path[] = [
  { name: 'paidCard', share: 1 - MOST.reduce((sum, path) => sum + path.share, 0), codes: [...SUBMITTED, ...PAID], callback: 'valid' },
  ...MOST,
]; // prettier-ignore

/** Ends of our own status requests, each of an order of its own. They are counted after the paths. */
export const POLL_ENDS = ['ok', 'timeout', 'unauthorized'] as const;
export type PollEnd = (typeof POLL_ENDS)[number];
/** Where a kind of end is counted. */
export const pollIndex = (end: PollEnd): number => PATHS.length + POLL_ENDS.indexOf(end);

export const pathIndex = (name: string): number => {
  const index = PATHS.findIndex((path) => path.name === name);
  if (index === -1) throw new RangeError(`there is no path ${name}`);
  return index;
};

/** Paths with an item that the test says yes to. */
export const pathsWith = (test: (code: string) => boolean): number[] =>
  PATHS.flatMap((path, index) => (path.codes.some(test) ? [index] : []));
