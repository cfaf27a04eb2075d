import { type Path, PATHS, pathsNamed, pathsWith, type PollEnd } from './paths.ts';

/** How bad an incident is: see RISE, GONE and TIMES. */
export type Form = 'severe' | 'medium' | 'mild';
/** Points that the failing share rises by. */
export const RISE: Readonly<Record<Form, number>> = { severe: 0.5, medium: 0.15, mild: 0.05 };
/** Traffic that is gone. */
export const GONE: Readonly<Record<Form, number>> = { severe: 0.9, medium: 0.5, mild: 0.2 };
/** How many times as long orders take. */
export const TIMES: Readonly<Record<Form, number>> = { severe: 5, medium: 3, mild: 2 };

export interface Kind {
  readonly name: string;
  readonly forms: readonly Form[];
  /**
   * It takes so long until the first order is what the incident is about, e.g. half an hour in processing.
   * @default 0
   */
  readonly waitMinutes?: number;
  readonly effect: Effect;
}

export type Effect =
  | {
      /** Orders go these ways instead of the others of the population. */
      readonly type: 'share';
      readonly targets: readonly number[];
      readonly population: readonly number[];
    }
  /** Orders no longer come, or take longer. */
  | { readonly type: 'drop' | 'slow' }
  /** These ways are no longer gone, e.g. antifraud lets everything pass. */
  | { readonly type: 'silence'; readonly targets: readonly number[] }
  /** The gateway cannot be seen: its watermark stands still, our polls end so. */
  | { readonly type: 'blind'; readonly polls: PollEnd }
  /** Our own collector is gone, replies fit no row, or messages wait in Kafka. */
  | { readonly type: 'silent' | 'rejects' | 'lag' };

const everyForm: readonly Form[] = ['severe', 'medium', 'mild'];
const at = (stage: number): number[] => pathsWith((code) => code.startsWith(`${stage}.`));
const judged = pathsWith((code) => code === '4.1.3.00' || /^4\.1\.4\.(00|41|6\d)$/.test(code));
const called = PATHS.flatMap(({ callback }: Path, index) => (callback === undefined ? [] : [index]));
const paid = pathsWith((code) => code === '4.1.3.00');
const processed = pathsWith((code) => code === '3.1.1.55');
const all = PATHS.map((_, index) => index);

function rise(name: string, targets: readonly string[], population: readonly number[], more: Partial<Kind> = {}): Kind {
  const indices = targets.flatMap(pathsNamed);
  const effect = { type: 'share', targets: indices, population: [...new Set([...population, ...indices])] } as const;
  return { name, forms: everyForm, effect, ...more };
} // prettier-ignore

const severely = (name: string, effect: Effect): Kind => ({ name, forms: ['severe'], effect });

/** Everything that a rule is meant to notice. */
export const KINDS: readonly Kind[] = [
  rise('create timeouts', ['createTimeout'], at(2)),
  rise('create unreachable', ['connectionFailed', 'serverUnavailable'], at(2)),
  rise('create repeated after a timeout', ['paidAfterCreateTimeout'], at(2)),
  rise('check timeouts', ['checkTimesOut'], at(4)),
  rise('check unavailable', ['checkUnavailable'], at(4)),
  rise('check recovers from a timeout', ['paidAfterCheckTimeout'], at(4)),
  rise('check recovers when unavailable', ['paidAfterCheckUnavailable'], at(4)),
  rise('create refused 401', ['create401'], at(2)),
  rise('create refused 403', ['create403'], at(2)),
  rise('check refused 401', ['paidAfterCheck401'], at(4)),
  rise('provider signatures', ['paidAfterBadSignature'], at(5)),
  rise('gateway signatures', ['paidBadCallback'], called),
  rise('contract: responses', ['invalidResponse'], at(2)),
  rise('contract: requests', ['invalidRequest'], at(2)),
  rise('contract: payloads', ['paidAfterBadPayload'], at(5)),
  rise('balance exhausted', ['balance'], at(2)),
  rise('limit reached', ['limit'], at(2)),
  rise('currency rejected', ['currency'], at(2)),
  rise('routing blocked', ['routingBlocked'], all),
  rise('amount changed', ['paidAmountChanged'], paid),
  rise('antifraud spike', ['antifraud'], judged),
  severely('antifraud silence', { type: 'silence', targets: pathsNamed('antifraud') }),
  rise('3DS failures', ['threeDsFailed'], processed),
  rise('OTP failures', ['otpFailed'], processed),
  rise('form left', ['cancelled', 'leftForm'], at(3)),
  rise('cards blocked', ['cardBlocked'], judged),
  rise('cards not supported', ['cardNotSupported'], judged),
  rise('insufficient funds', ['insufficientFunds'], judged),
  rise('unspecified declines', ['declined'], judged),
  rise('unknown codes', ['unknownDecline'], judged),
  rise('stuck in processing', ['stuck'], processed, { waitMinutes: 30 }),
  rise('merchant callback missing', ['paidUnconfirmed'], paid, { waitMinutes: 10 }),
  rise('success after failed', ['failedThenPaid'], paid),
  { name: 'traffic drop', forms: ['severe', 'medium'], effect: { type: 'drop' } },
  severely('gateway does not answer us', { type: 'blind', polls: 'timeout' }),
  severely('gateway refuses our token', { type: 'blind', polls: 'unauthorized' }),
  rise('clocks differ', ['paidClockAhead'], all),
  severely('replies rejected', { type: 'rejects' }),
  severely('messages wait', { type: 'lag' }),
  severely('collector silent', { type: 'silent' }),
]; // prettier-ignore

/** Orders take two, three or five times as long. */
export const SLOW_DOWN: Kind = { name: 'slow-down', forms: everyForm, effect: { type: 'slow' } };

export function kindNamed(name: string): Kind {
  const kind = KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new RangeError(`there is no kind ${name}`);
  return kind;
}

/** Kinds that can befall a slice: those of orders. What we see ourselves is of the gateway as a whole. */
export const SLICE_KINDS: readonly Kind[] = KINDS.filter(
  ({ name, effect }) =>
    (effect.type === 'share' && name !== 'gateway signatures' && name !== 'clocks differ') ||
    effect.type === 'drop',
);
