import { GONE, type Incident, RISE, scheduleIncidents } from './incidents.ts';
import { PATHS, POLL_ENDS, type PollEnd, pollIndex } from './paths.ts';
import { createRandom, type Random } from './random.ts';
import { DAY, demand, isNight, WEEK } from './seasons.ts';

/**
 * Minutes after which an item becomes known, beyond the minute it belongs to; and how many orders are so
 * late.
 */
export const DELAYS = [
  { minutes: 0, share: 0.975 },
  { minutes: 2, share: 0.02 },
  { minutes: 10, share: 0.005 },
] as const;

/** Status requests of ours for each order, on average. */
const POLLS_AN_ORDER = 6;
const POLL_TIMEOUTS = 0.003;

/** A gateway's months, as counts by minute. Minute `m` of the arrays begins `m` minutes after EPOCH_MS. */
export interface Months {
  readonly minutes: number;
  /** Scored from here on; what lies before is the past that baselines need. */
  readonly from: number;
  readonly ordersPerMinute: number;
  readonly incidents: readonly Incident[];
  /**
   * Orders that begin in a minute, by delay (see DELAYS), path (see PATHS) and minute. Behind the paths,
   * never delayed, stand orders that were polled, by how that ended (see POLL_ENDS).
   */
  readonly orders: readonly (readonly Uint16Array[])[];
  /**
   * By minute: where our picture of the gateway ends (exclusive) at that minute's end. A blind gateway's
   * stands still.
   */
  readonly seenUntil: Uint32Array;
  /** By minute: does the collector report? */
  readonly reporting: Uint8Array;
  /** By minute, as the collector reports them: circuits that are open, and messages that wait. */
  readonly circuits: Uint8Array;
  readonly lag: Uint32Array;
  /** By minute: how far the collector finds history dated ahead of its clock, in seconds. */
  readonly clockSkew: Float32Array;
  /** By minute. */
  readonly rejects: Uint16Array;
}

export interface SimulationOptions {
  readonly seed: string;
  readonly ordersPerMinute: number;
  readonly weeks: number;
  /** @default 5 */
  readonly warmUpWeeks?: number;
  /** False: months in which nothing happens but noise. @default true */
  readonly incidents?: boolean;
}

export function simulate(options: SimulationOptions): Months {
  const { seed, ordersPerMinute, weeks, warmUpWeeks = 5, incidents: wanted = true } = options;
  const random = createRandom(`${seed}|${ordersPerMinute}`);
  const minutes = weeks * WEEK;
  const from = warmUpWeeks * WEEK;
  const rate = demand(minutes, random).map((relative) => relative * ordersPerMinute);
  const incidents = wanted ? scheduleIncidents({ rate, random, from }) : [];
  const orders = DELAYS.map(({ minutes: late }) =>
    Array.from(
      { length: PATHS.length + (late === 0 ? POLL_ENDS.length : 0) },
      () => new Uint16Array(minutes),
    ),
  );
  const months: Months = {
    minutes,
    from,
    ordersPerMinute,
    incidents,
    orders,
    seenUntil: new Uint32Array(minutes),
    reporting: new Uint8Array(minutes).fill(1),
    circuits: new Uint8Array(minutes),
    lag: new Uint32Array(minutes),
    clockSkew: new Float32Array(minutes),
    rejects: new Uint16Array(minutes),
  };
  const shares = wanderingShares(minutes, random);
  const hiccups = hiccupsOf(minutes, random);
  const now = new Float64Array(PATHS.length);
  const clock = clockWatch();
  let next = 0;
  for (let minute = 0; minute < minutes; minute++) {
    while (next < incidents.length && (incidents[next] as Incident).end <= minute) next++;
    const candidate = incidents[next];
    const incident = candidate !== undefined && candidate.start <= minute ? candidate : undefined;
    shares(minute, now);
    hiccups(minute, now);
    if (incident !== undefined) befall(incident, now);
    const gone = incident?.kind.effect.type === 'drop' ? 1 - GONE[incident.form] : 1;
    let total = 0;
    let ahead = 0;
    for (const [path, { aheadSeconds = 0 }] of PATHS.entries()) {
      const mean = (rate[minute] ?? 0) * gone * (now[path] ?? 0);
      for (const [delay, { share }] of DELAYS.entries()) {
        // What is dated ahead and known late is no longer ahead.
        const part = aheadSeconds === 0 ? share : Number(delay === 0);
        const count = random.poisson(mean * part);
        if (count === 0) continue;
        const counts = orders[delay]?.[path];
        if (counts !== undefined) counts[minute] = count;
        total += count;
        if (aheadSeconds > 0) ahead += count;
      }
    }
    months.clockSkew[minute] = clock(total, ahead);
    see(months, minute, incident, Math.min(60_000, random.poisson(total * POLLS_AN_ORDER)), random);
  }
  return months;
}

const AHEAD_SECONDS = PATHS.find(({ aheadSeconds = 0 }) => aheadSeconds > 0)?.aheadSeconds ?? 0;

/** How far the newest hundred orders of at most three hours are dated ahead, where five of them are. */
function clockWatch(): (orders: number, ahead: number) => number {
  const newest: { readonly orders: number; readonly ahead: number }[] = [];
  return (orders, ahead) => {
    newest.unshift({ orders, ahead });
    newest.length = Math.min(newest.length, 180);
    let [all, some] = [0, 0];
    for (const minute of newest) {
      if (all >= 100) break;
      all += minute.orders;
      some += minute.ahead;
    }
    return (some * 100) / Math.max(100, all) >= 5 ? AHEAD_SECONDS : 0;
  };
}

/** Shares of the paths wander over hours, each by itself, and some differ at night. */
function wanderingShares(minutes: number, random: Random): (minute: number, into: Float64Array) => void {
  const STEP = 30;
  const slow = Math.exp(-STEP / (6 * 60));
  const states = PATHS.map(() => random.normal());
  const factors = new Float64Array(PATHS.length);
  void minutes;
  return (minute, into) => {
    if (minute % STEP === 0)
      for (const [path, { wander = 0.1 }] of PATHS.entries()) {
        states[path] = slow * (states[path] ?? 0) + Math.sqrt(1 - slow * slow) * random.normal();
        factors[path] = Math.exp(wander * (states[path] ?? 0) - (wander * wander) / 2);
      }
    let sum = 0;
    for (const [path, { share, atNight = 1 }] of PATHS.entries()) {
      const value = share * (path === 0 ? 1 : (factors[path] ?? 1) * (isNight(minute) ? atNight : 1));
      into[path] = value;
      if (path > 0) sum += value;
    }
    into[0] = 1 - sum;
  };
}

/** A minute or two, some times a month, in which the gateway stutters. Nobody should be woken for it. */
function hiccupsOf(minutes: number, random: Random): (minute: number, into: Float64Array) => void {
  const stuttering = new Float64Array(minutes);
  const timeout = PATHS.findIndex(({ name }) => name === 'createTimeout');
  for (let minute = random.below(3 * DAY); minute < minutes; minute += DAY + random.below(5 * DAY)) {
    const share = 0.1 + 0.2 * random.next();
    for (let left = 1 + random.below(2); left > 0; left--) stuttering[minute + left] = share;
  }
  return (minute, into) => {
    const share = stuttering[minute] ?? 0;
    if (share === 0) return;
    for (let path = 0; path < into.length; path++) into[path] = (into[path] ?? 0) * (1 - share);
    into[timeout] = (into[timeout] ?? 0) + share;
  };
}

function befall({ kind, form }: Incident, shares: Float64Array): void {
  const { effect } = kind;
  const sum = (paths: readonly number[]): number =>
    paths.reduce((total, path) => total + (shares[path] ?? 0), 0);
  if (effect.type === 'silence')
    for (const path of effect.targets) {
      shares[0] = (shares[0] ?? 0) + (shares[path] ?? 0);
      shares[path] = 0;
    }
  if (effect.type !== 'share') return;
  const population = sum(effect.population);
  const before = sum(effect.targets) / population;
  const after = Math.min(0.98, before + RISE[form]);
  const others = (1 - after) / (1 - before);
  for (const path of effect.population) shares[path] = (shares[path] ?? 0) * others;
  for (const path of effect.targets) shares[path] = (population * after) / effect.targets.length;
}

/** What our own collector does in a minute: status requests, its report, and how far it sees. */
function see(
  months: Months,
  minute: number,
  incident: Incident | undefined,
  sent: number,
  random: Random,
): void {
  const effect = incident?.kind.effect;
  const polled = (end: PollEnd, count: number): void => {
    const counts = months.orders[0]?.[pollIndex(end)];
    if (counts !== undefined) counts[minute] = count;
  };
  const blind = effect?.type === 'blind' || effect?.type === 'silent';
  months.seenUntil[minute] = blind ? (incident?.start ?? 0) : minute + 1;
  months.reporting[minute] = Number(effect?.type !== 'silent');
  months.circuits[minute] = Number(effect?.type === 'blind' && effect.polls === 'unauthorized');
  months.lag[minute] = effect?.type === 'lag' ? 50_000 : 0;
  months.rejects[minute] = effect?.type === 'rejects' ? random.poisson(5) : Number(random.next() < 0.000_05);
  if (effect?.type === 'silent') return;
  // Who gets no answer asks less often.
  if (effect?.type === 'blind') return polled(effect.polls, Math.min(sent, 60));
  const timeouts = Math.min(sent, random.poisson(sent * POLL_TIMEOUTS));
  polled('timeout', timeouts);
  polled('ok', sent - timeouts);
}
