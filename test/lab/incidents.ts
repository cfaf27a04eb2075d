import { type Path, PATHS, pathIndex, pathsWith, type PollEnd } from './paths.ts';
import type { Random } from './random.ts';

/** How bad: failures by the points that the failing share rises by, drops by the traffic that is gone. */
export type Form = 'severe' | 'medium' | 'mild';
export const RISE: Readonly<Record<Form, number>> = { severe: 0.5, medium: 0.15, mild: 0.05 };
export const GONE: Readonly<Record<Form, number>> = { severe: 0.9, medium: 0.5, mild: 0.2 };

export interface Kind {
  readonly name: string;
  readonly forms: readonly Form[];
  /**
   * It takes so long until the first order is what the incident is about, e.g. half an hour in processing.
   * @default 0
   */
  readonly waitMinutes?: number;
  readonly effect:
    | {
        /** Orders go these ways instead of the others of the population. */
        readonly type: 'share';
        readonly targets: readonly number[];
        readonly population: readonly number[];
      }
    /** Orders no longer come. */
    | { readonly type: 'drop' }
    /** These ways are no longer gone, e.g. antifraud lets everything pass. */
    | { readonly type: 'silence'; readonly targets: readonly number[] }
    /** The gateway cannot be seen: its watermark stands still, our polls end so. */
    | { readonly type: 'blind'; readonly polls: PollEnd }
    /** Our own collector is gone, replies fit no row, or messages wait in Kafka. */
    | { readonly type: 'silent' | 'rejects' | 'lag' };
}

export interface Incident {
  readonly kind: Kind;
  readonly form: Form;
  /** Minutes; the end is exclusive. Orders begin to be affected, and end to be. */
  readonly start: number;
  readonly end: number;
  /** Minutes from the start until twelve affected orders are expected; null where none is affected. */
  readonly twelveAffected: number | null;
  /** Orders that came a minute when it began. */
  readonly ordersPerMinute: number;
}

const everyForm: readonly Form[] = ['severe', 'medium', 'mild'];
const at = (stage: number): number[] => pathsWith((code) => code.startsWith(`${stage}.`));
const submitted = pathsWith((code) => code === '3.1.1.55');
const judged = pathsWith((code) => code === '4.1.3.00' || /^4\.1\.4\.(00|41|6\d)$/.test(code));
const called = PATHS.flatMap(({ callback }: Path, index) => (callback === undefined ? [] : [index]));
const paid = pathsWith((code) => code === '4.1.3.00');
const all = PATHS.map((_, index) => index);

const rise = (
  name: string,
  targets: readonly string[],
  population: readonly number[],
  waitMinutes = 0,
): Kind => {
  const indices = targets.map(pathIndex);
  return {
    name,
    forms: everyForm,
    waitMinutes,
    effect: { type: 'share', targets: indices, population: [...new Set([...population, ...indices])] },
  };
};

/** Everything that a rule is meant to notice. */
export const KINDS: readonly Kind[] = [
  rise('create timeouts', ['createTimeout'], at(2)),
  // Half of the orders of a channel that has a tenth of the traffic: five points of the whole.
  { ...rise('one channel of ten times out', ['createTimeout'], at(2)), forms: ['mild'] },
  rise('create unreachable', ['connectionFailed', 'serverUnavailable'], at(2)),
  rise('check timeouts', ['paidAfterCheckTimeout'], at(4)),
  rise('check unavailable', ['paidAfterCheckUnavailable'], at(4)),
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
  { name: 'antifraud silence', forms: ['severe'], effect: { type: 'silence', targets: [pathIndex('antifraud')] } },
  rise('3DS failures', ['threeDsFailed'], submitted),
  rise('OTP failures', ['otpFailed'], submitted),
  rise('form left', ['cancelled', 'leftForm'], at(3)),
  rise('cards blocked', ['cardBlocked'], judged),
  rise('cards not supported', ['cardNotSupported'], judged),
  rise('insufficient funds', ['insufficientFunds'], judged),
  rise('unspecified declines', ['declined'], judged),
  rise('unknown codes', ['unknownDecline'], judged),
  rise('stuck in processing', ['stuck'], all, 30),
  rise('merchant callback missing', ['paidUnconfirmed'], paid, 10),
  rise('success after failed', ['failedThenPaid'], paid),
  { name: 'traffic drop', forms: ['severe', 'medium'], effect: { type: 'drop' } },
  { name: 'gateway does not answer us', forms: ['severe'], effect: { type: 'blind', polls: 'timeout' } },
  { name: 'gateway refuses our token', forms: ['severe'], effect: { type: 'blind', polls: 'unauthorized' } },
  rise('clocks differ', ['paidClockAhead'], all),
  { name: 'replies rejected', forms: ['severe'], effect: { type: 'rejects' } },
  { name: 'messages wait', forms: ['severe'], effect: { type: 'lag' } },
  { name: 'collector silent', forms: ['severe'], effect: { type: 'silent' } },
]; // prettier-ignore

/** Orders that an incident touches, as a share of all that come. */
export function affectedShare(kind: Kind, form: Form): number {
  const { effect } = kind;
  if (effect.type === 'drop') return GONE[form];
  if (effect.type === 'silence') return sharesOf(effect.targets);
  return effect.type === 'share' ? RISE[form] * sharesOf(effect.population) : 0;
}

export const sharesOf = (paths: readonly number[]): number =>
  paths.reduce((sum, index) => sum + (PATHS[index]?.share ?? 0), 0);

export interface ScheduleOptions {
  /** Orders a minute, by minute. */
  readonly rate: Float64Array;
  readonly random: Random;
  /** Nothing happens before: baselines need a past. */
  readonly from: number;
  /** Share of the time after `from` in which incidents occur; the rest is quiet to the end. @default 0.65 */
  readonly busy?: number;
}

/** An incident lasts until this number of orders is affected, but within the limits below, in minutes. */
const AFFECTED = 60;
const SHORTEST = 45;
/** What does not happen is missed after hours only. */
const SHORTEST_SILENCE = 4 * 60;
const LONGEST = 24 * 60;
/** Hours of quiet before each incident, at least and at most. */
const GAP = { least: 5 * 60, most: 14 * 60 };

/** Incidents of every kind and form, in random order and at random hours, as often as the time allows. */
export function scheduleIncidents({ rate, random, from, busy = 0.65 }: ScheduleOptions): Incident[] {
  const out: Incident[] = [];
  const latest = from + (rate.length - from) * busy;
  let at = from;
  for (;;) {
    const round = shuffle(
      KINDS.flatMap((kind) => kind.forms.map((form) => ({ kind, form }))),
      random,
    );
    for (const { kind, form } of round) {
      at += GAP.least + random.below(GAP.most - GAP.least);
      const affected = affectedShare(kind, form);
      const shortest = kind.effect.type === 'silence' ? SHORTEST_SILENCE : SHORTEST;
      const enough = until(rate, at, affected, AFFECTED) ?? rate.length;
      // However few orders there are, twice what is enough to distinguish an incident from chance.
      const certain = (until(rate, at, affected, 24) ?? rate.length) - at;
      const length =
        affected === 0 ? 60 : Math.max(certain, Math.min(LONGEST, Math.max(shortest, enough - at)));
      // The first round is had whole, so that every kind and form occurs.
      if (at + length > (out.length < round.length ? rate.length : latest)) return out;
      const twelve = affected === 0 ? null : (until(rate, at, affected, 12) ?? rate.length) - at;
      const ordersPerMinute = rate[at] ?? 0;
      out.push({ kind, form, start: at, end: at + length, twelveAffected: twelve, ordersPerMinute });
      at += length;
    }
  }
}

/** The minute at whose end `affected` of the orders are expected to be hit; null when fewer ever will be. */
function until(rate: Float64Array, start: number, affected: number, orders: number): number | null {
  if (affected === 0) return null;
  let sum = 0;
  for (let minute = start; minute < rate.length; minute++) {
    sum += (rate[minute] ?? 0) * affected;
    if (sum >= orders) return minute + 1;
  }
  return null;
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [out[last], out[other]] = [out[other] as T, out[last] as T];
  }
  return out;
}
