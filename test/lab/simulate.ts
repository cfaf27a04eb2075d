import { befall, stillComes } from './befall.ts';
import { type Add, createDrawer, DELAYS } from './draw.ts';
import { drawGateway } from './gateway.ts';
import { daysOff, scheduleHarmless, trafficFactors } from './harmless.ts';
import { isOn, scheduleIncidents } from './incidents.ts';
import type { Months } from './months.ts';
import { type Levels, STEP, stutter, stuttersOf, wanderingLevels } from './noise.ts';
import { DECIDED, PATHS, POLL_ENDS } from './paths.ts';
import { createRandom, type Random } from './random.ts';
import { DAY, demand, WEEK } from './seasons.ts';
import { createWatch } from './watch.ts';

export interface SimulationOptions {
  readonly seed: string;
  readonly ordersPerMinute: number;
  readonly weeks: number;
  /** @default 5 */
  readonly warmUpWeeks?: number;
  /** See `DemandOptions`. @default 0 */
  readonly weekOfYear?: number;
  /** False: months in which nothing happens but noise. @default true */
  readonly incidents?: boolean;
}

/** Orders that take longer than the usual 95th percentile: 1.645 standard deviations of the logarithm. */
const SLOW_FROM = 1.645;

/** Every seed is a gateway of its own: equal seeds give equal months. */
export function simulate(options: SimulationOptions): Months {
  const { seed, ordersPerMinute, weeks, warmUpWeeks = 5, weekOfYear = 0, incidents: wanted = true } = options;
  const random = createRandom(`${seed}|${ordersPerMinute}`);
  const minutes = weeks * WEEK;
  const from = warmUpWeeks * WEEK;
  const gateway = drawGateway(random);
  const harmless = wanted ? scheduleHarmless(gateway, { minutes, from, weekOfYear }, random) : [];
  const campaigns = harmless.filter(({ what }) => what === 'campaign');
  const shifted = harmless.find(({ what }) => what === 'shifted hour')?.start;
  const course = { minutes, random, weekOfYear, campaigns };
  const demanded = demand(shifted === undefined ? course : { ...course, shiftedFrom: shifted });
  const rate = demanded.map((relative) => relative * ordersPerMinute);
  const off = daysOff(harmless);
  const incidents = wanted ? scheduleIncidents({ gateway, rate, random, from, off }) : [];
  const months = emptyMonths({ minutes, from, ordersPerMinute, gateway, incidents, harmless });
  fill(months, rate, random);
  return months;
}

function emptyMonths(
  plan: Pick<Months, 'minutes' | 'from' | 'ordersPerMinute' | 'gateway' | 'incidents' | 'harmless'>,
): Months {
  const { minutes, gateway } = plan;
  return {
    ...plan,
    orders: DELAYS.map(({ minutes: late }) =>
      Array.from(
        { length: PATHS.length + (late === 0 ? POLL_ENDS.length : 0) },
        () => new Uint16Array(minutes),
      ),
    ),
    segments: gateway.segments.map(() => DELAYS.map(() => [])),
    slow: gateway.segments.map(() => new Uint16Array(minutes)),
    seenUntil: new Uint32Array(minutes),
    reporting: new Uint8Array(minutes).fill(1),
    circuits: new Uint8Array(minutes),
    lag: new Uint32Array(minutes),
    clockSkew: new Float32Array(minutes),
    rejects: new Uint16Array(minutes),
  };
}

function fill(months: Months, rate: Float64Array, random: Random): void {
  const { minutes, gateway, incidents, harmless } = months;
  const levels: Levels = {
    shares: gateway.segments.map(() => new Float64Array(PATHS.length)),
    slowness: new Float64Array(gateway.segments.length),
  };
  const wander = wanderingLevels(gateway, harmless, random);
  const factorsAt = trafficFactors(gateway, harmless);
  const factors = new Float64Array(gateway.segments.length);
  const stutters = stuttersOf(minutes, random);
  const counter = createCounter(months);
  const drawer = createDrawer(gateway, random, counter.add);
  const watch = createWatch(months, random);
  const off = daysOff(harmless);
  let next = 0;
  let state = '';
  for (let minute = 0; minute < minutes; minute++) {
    while ((incidents[next]?.end ?? Infinity) <= minute) next++;
    const candidate = incidents[next];
    const incident = candidate !== undefined && isOn(candidate, minute) ? candidate : undefined;
    const now = `${minute - (minute % STEP)} ${incident?.start ?? ''} ${stutters[minute] ?? 0}`;
    if (now !== state) {
      state = now;
      wander(minute, levels);
      stutter(stutters[minute] ?? 0, levels);
      if (incident !== undefined) befall(gateway, incident, levels);
      drawer.prepare(levels);
    }
    const night = minute % DAY === 0 ? off.find(({ start }) => start === minute) : undefined;
    if (night !== undefined) {
      // Nothing is ever known of such a day.
      for (; minute < night.end; minute++) watch.off(minute, night.start);
      minute--;
      continue;
    }
    factorsAt(minute, factors);
    for (const [segment, factor] of factors.entries()) {
      const befallen = incident?.slice.segments.includes(segment) === true;
      const comes = befallen && incident !== undefined ? stillComes(incident) : 1;
      counter.begin(segment, minute);
      drawer.orders(minute, segment, (rate[minute] ?? 0) * factor * comes);
      counter.end(
        slowShare(levels.slowness[segment] ?? 0, gateway.segments[segment]?.timeSpread ?? 1),
        random,
      );
    }
    watch.minute(minute, incident, counter.taken());
  }
}

/** Share of the orders that are slow when all take `exp(slowness)` times as long as usual. */
const slowShare = (slowness: number, spread: number): number => 1 - normalCdf(SLOW_FROM - slowness / spread);

/** Puts the orders that are drawn into the months. */
function createCounter(months: Months) {
  const isDecided = new Set(DECIDED);
  let [segment, minute, decided, total, ahead] = [0, 0, 0, 0, 0];
  const add: Add = (ofSegment, path, delay, count) => {
    const all = months.orders[delay]?.[path];
    if (all !== undefined) all[minute] = (all[minute] ?? 0) + count;
    const own = months.segments[ofSegment]?.[delay] as (Uint16Array | undefined)[];
    const counts = (own[path] ??= new Uint16Array(months.minutes));
    counts[minute] = (counts[minute] ?? 0) + count;
    total += count;
    if ((PATHS[path]?.aheadSeconds ?? 0) > 0) ahead += count;
    if (isDecided.has(path)) decided += count;
  };
  return {
    add,
    begin(ofSegment: number, at: number): void {
      [segment, minute, decided] = [ofSegment, at, 0];
    },
    end(share: number, random: Random): void {
      const slow = months.slow[segment];
      if (slow !== undefined) slow[minute] = Math.min(decided, random.poisson(decided * share));
    },
    /** Orders since it was last asked. */
    taken(): { readonly total: number; readonly ahead: number } {
      const counted = { total, ahead };
      [total, ahead] = [0, 0];
      return counted;
    },
  };
}

/** The normal distribution (Abramowitz and Stegun 26.2.17, right to 7.5e-8). */
function normalCdf(x: number): number {
  if (x < 0) return 1 - normalCdf(-x);
  const t = 1 / (1 + 0.231_641_9 * x);
  const polynomial =
    t *
    (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
  return 1 - (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
