/**
 * The ways an order can go, each with the codes of its history. All items lie within the minute in which the
 * order begins, so that counts per minute add up to counts of distinct orders.
 */
export interface Path {
  readonly name: string;
  /** Share of a gateway's orders on a healthy day, before the gateway's own level is drawn. */
  readonly share: number;
  readonly codes: readonly string[];
  /**
   * How the share differs from gateway to gateway. `drawn`: a level of 0 to 8 %, whatever `share` says;
   * `varied`: a factor around the share; `fixed`: nearly never anywhere.
   */
  readonly level: 'drawn' | 'varied' | 'fixed';
  /** The gateway's clock is so much ahead of ours when it writes the items. @default 0 */
  readonly aheadSeconds?: number;
  /** Verdict on the callback that we receive for the order; without one there is no callback. */
  readonly callback?: 'valid' | 'mismatch' | 'valid_previous_key';
  /** How strongly the share wanders over hours: standard deviation of its logarithm. @default 0.1 */
  readonly wander?: number;
  /** Share at night relative to day. @default 1 */
  readonly atNight?: number;
}

const CREATED = ['1.0.0.00', '1.1.1.00', '2.1.1.00'];
const FORM = ['3.0.1.00', '3.0.1.51', '3.0.1.53'];
const SHOWN = [...CREATED, ...FORM];
const SUBMITTED = [...SHOWN, '3.1.1.55'];
const PAID = ['4.1.3.00', '5.1.3.00', '6.1.1.00'];
const REFUSED = ['1.0.0.00', '1.1.1.00'];
/** The create request is repeated on the same order, which is then paid. */
const repeated = (code: string): string[] => [...REFUSED, code, '2.1.1.00', ...FORM, '3.1.1.55', ...PAID];

/** Not paid at once; what reaches nobody is paid as usual. */
const TROUBLED: readonly Path[] = [
  { name: 'paidAmountChanged', share: 0.004, level: 'varied', codes: [...SUBMITTED, '4.1.3.00', '5.1.3.35', '6.1.1.00'], callback: 'valid' },
  { name: 'paidAfterCheckUnavailable', share: 0, level: 'drawn', codes: [...SUBMITTED, '4.2.2.13', ...PAID], callback: 'valid', wander: 0.15 },
  { name: 'paidAfterCheckTimeout', share: 0, level: 'drawn', codes: [...SUBMITTED, '4.2.2.11', ...PAID], callback: 'valid', wander: 0.15 },
  { name: 'paidAfterCreateTimeout', share: 0, level: 'drawn', codes: repeated('2.2.2.11'), callback: 'valid', wander: 0.15 },
  { name: 'paidAfterCreateUnavailable', share: 0, level: 'drawn', codes: repeated('2.2.2.13'), callback: 'valid', wander: 0.15 },
  { name: 'paidAfterCheckRefused', share: 0.0001, level: 'fixed', codes: [...SUBMITTED, '4.2.2.15', ...PAID], callback: 'valid' },
  { name: 'paidAfterCheck401', share: 0.000_02, level: 'fixed', codes: [...SUBMITTED, '4.2.2.21', ...PAID], callback: 'valid' },
  { name: 'paidAfterBadSignature', share: 0.0002, level: 'fixed', codes: [...SUBMITTED, '5.2.2.16', ...PAID], callback: 'valid' },
  { name: 'paidAfterBadPayload', share: 0.0002, level: 'fixed', codes: [...SUBMITTED, '5.2.2.17', ...PAID], callback: 'valid' },
  { name: 'paidBadCallback', share: 0.000_05, level: 'fixed', codes: [...SUBMITTED, ...PAID], callback: 'mismatch' },
  { name: 'paidUnconfirmed', share: 0.003, level: 'varied', codes: [...SUBMITTED, '4.1.3.00', '5.1.3.00'], callback: 'valid' },
  { name: 'paidClockAhead', share: 0.000_02, level: 'fixed', codes: [...SUBMITTED, ...PAID], callback: 'valid', aheadSeconds: 12 },
  // One such order is an incident: a gateway without one has none.
  { name: 'failedThenPaid', share: 0, level: 'fixed', codes: [...SUBMITTED, '4.1.4.00', '4.1.3.00'], callback: 'valid' },
  { name: 'cardBlocked', share: 0.03, level: 'varied', codes: [...SUBMITTED, '4.1.4.61'], callback: 'valid', atNight: 1.3 },
  { name: 'cardNotSupported', share: 0.02, level: 'varied', codes: [...SUBMITTED, '4.1.4.62'], callback: 'valid' },
  { name: 'insufficientFunds', share: 0.08, level: 'varied', codes: [...SUBMITTED, '4.1.4.63'], callback: 'valid', atNight: 1.4 },
  { name: 'antifraud', share: 0.03, level: 'varied', codes: [...SUBMITTED, '4.1.4.41'], callback: 'valid', atNight: 1.5 },
  { name: 'declined', share: 0.015, level: 'varied', codes: [...SUBMITTED, '4.1.4.00'], callback: 'valid' },
  { name: 'unknownDecline', share: 0.000_02, level: 'fixed', codes: [...SUBMITTED, '4.1.4.64'], callback: 'valid' },
  { name: 'threeDsFailed', share: 0.03, level: 'varied', codes: [...SUBMITTED, '3.2.4.56'], callback: 'valid', atNight: 1.2 },
  { name: 'otpFailed', share: 0.015, level: 'varied', codes: [...SUBMITTED, '3.2.4.57'], callback: 'valid' },
  { name: 'leftOnConfirm', share: 0.02, level: 'varied', codes: [...SUBMITTED, '3.0.1.58', '4.1.4.00'], callback: 'valid' },
  { name: 'cancelled', share: 0.03, level: 'varied', codes: [...SHOWN, '3.0.4.54'], callback: 'valid' },
  { name: 'leftForm', share: 0.03, level: 'varied', codes: [...SHOWN, '3.0.1.52', '4.1.4.00'], callback: 'valid' },
  { name: 'balance', share: 0.0005, level: 'varied', codes: [...REFUSED, '2.2.4.31'], callback: 'valid' },
  { name: 'limit', share: 0.006, level: 'varied', codes: [...REFUSED, '2.2.4.32'], callback: 'valid', wander: 0.2 },
  { name: 'currency', share: 0.0001, level: 'fixed', codes: [...REFUSED, '2.2.4.33'], callback: 'valid' },
  { name: 'routingBlocked', share: 0.001, level: 'varied', codes: ['1.0.0.00', '1.2.4.34'], callback: 'valid' },
  { name: 'createTimeout', share: 0.0025, level: 'varied', codes: [...REFUSED, '2.2.4.11'], wander: 0.3 },
  { name: 'connectionFailed', share: 0.001, level: 'varied', codes: [...REFUSED, '2.2.4.12'], wander: 0.3 },
  { name: 'serverUnavailable', share: 0.0015, level: 'varied', codes: [...REFUSED, '2.2.4.13'], wander: 0.3 },
  { name: 'invalidResponse', share: 0.0002, level: 'fixed', codes: [...REFUSED, '2.2.4.14'] },
  { name: 'invalidRequest', share: 0.0002, level: 'fixed', codes: [...REFUSED, '2.2.4.15'] },
  { name: 'create401', share: 0.000_02, level: 'fixed', codes: [...REFUSED, '2.2.4.21'] },
  { name: 'create403', share: 0.000_02, level: 'fixed', codes: [...REFUSED, '2.2.4.22'] },
  { name: 'stuck', share: 0.003, level: 'varied', codes: SUBMITTED },
  { name: 'checkTimesOut', share: 0.0003, level: 'varied', codes: [...SUBMITTED, '4.2.2.11'] },
  { name: 'checkUnavailable', share: 0.0003, level: 'varied', codes: [...SUBMITTED, '4.2.2.13'] },
]; // prettier-ignore

const PAID_AT_ONCE: Path = { name: 'paid', share: 0, level: 'fixed', codes: [...SUBMITTED, ...PAID], callback: 'valid' }; // prettier-ignore

const atForm = (code: string): boolean => code.startsWith('3.');
const FORM_ITEMS: ReadonlySet<string> = new Set([...FORM, '3.1.1.55']);

/** The same without a payment form, as payouts and transfers go; null where the form is what it is about. */
function withoutForm(path: Path): Path | null {
  const codes = path.codes.filter((code) => !atForm(code));
  const isAboutForm = path.codes.some((code) => atForm(code) && !FORM_ITEMS.has(code));
  if (isAboutForm || codes.length === path.codes.length || path.name === 'stuck') return null;
  return { ...path, name: `${path.name} directly`, codes };
}

const WITH_FORM: readonly Path[] = [PAID_AT_ONCE, ...TROUBLED];
const DIRECT: readonly Path[] = WITH_FORM.flatMap((path) => withoutForm(path) ?? []);

/** All paths. Some belong to orders with a payment form, some to orders without, refusals to both. */
export const PATHS: readonly Path[] = [...WITH_FORM, ...DIRECT];

/** The paths of orders with a payment form, and of those without. The first is that without any trouble. */
export const FORM_PATHS: readonly number[] = WITH_FORM.map((_, index) => index);
export const DIRECT_PATHS: readonly number[] = [
  ...DIRECT.map((_, index) => WITH_FORM.length + index),
  ...FORM_PATHS.filter((index) => !PATHS[index]?.codes.some(atForm)),
];

/** Ends of our own status requests, each of an order of its own. They are counted after the paths. */
export const POLL_ENDS = ['ok', 'timeout', 'unauthorized'] as const;
export type PollEnd = (typeof POLL_ENDS)[number];
/** Where a kind of end is counted. */
export const pollIndex = (end: PollEnd): number => PATHS.length + POLL_ENDS.indexOf(end);

/** A path by its name, with a form and without. */
export function pathsNamed(name: string): number[] {
  const found = PATHS.flatMap((path, index) => (path.name.replace(' directly', '') === name ? [index] : []));
  if (found.length === 0) throw new RangeError(`there is no path ${name}`);
  return found;
}

/** Paths with an item that the test says yes to. */
export const pathsWith = (test: (code: string) => boolean): number[] =>
  PATHS.flatMap((path, index) => (path.codes.some(test) ? [index] : []));

/** Paths of orders that come to an end. */
export const DECIDED: readonly number[] = pathsWith((code) => /\.[34]\.\d\d$/.test(code));
