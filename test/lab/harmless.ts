import { CHANNEL_THAT_APPEARS_ONCE, type Gateway } from './gateway.ts';
import { PATHS } from './paths.ts';
import type { Random } from './random.ts';
import { DAY, holidays, WEEK } from './seasons.ts';

/** What happens to every gateway and must not page. */
export interface Harmless {
  readonly what:
    | 'campaign'
    | 'holiday'
    | 'shifted hour'
    | 'channel that appears once'
    | 'currency that vanishes'
    | 'change of habit'
    | 'collector off';
  /** Minutes; the end is exclusive. What stays is said to be new for four weeks. */
  readonly start: number;
  readonly end: number;
  /** A change of habit: the level of these paths moves by the factor, and stays there. */
  readonly paths?: readonly number[];
  readonly factor?: number;
  /** The currency that vanishes. */
  readonly currency?: string;
}

/** Share of the traffic that a channel has on the only day on which it is there. */
export const TRIAL_SHARE = 0.02;
const NEW_FOR = 4 * WEEK;

/**
 * One gateway's share of it, over its weeks: holidays, two campaigns of five times the traffic, summer time
 * at half of the gateways, a channel that appears once, a currency that vanishes, three changes of habit with
 * a deployment, and two days without a collector, of which nothing is known.
 */
export function scheduleHarmless(
  gateway: Gateway,
  span: { readonly minutes: number; readonly from: number; readonly weekOfYear: number },
  random: Random,
): Harmless[] {
  const { minutes, from, weekOfYear } = span;
  const day = (first: number, end: number): number =>
    DAY * Math.floor((first + random.next() * (end - first)) / DAY);
  const stays = (start: number) => ({ start, end: Math.min(minutes, start + NEW_FOR) });
  const atHour = (start: number, hour: number, length: number) => ({
    start: start + 60 * hour,
    end: Math.min(minutes, start + 60 * hour + length),
  });
  const out: Harmless[] = holidays(minutes, weekOfYear).map((one) => ({ what: 'holiday', ...one }));
  for (const half of [0, 1]) {
    const first = from + (half * (minutes - from)) / 2;
    const length = 60 + random.below(120);
    const rush = atHour(day(first, first + (minutes - from) / 2), 8 + random.below(12), length);
    out.push({ what: 'campaign', ...rush });
  }
  if (random.next() < 0.5) {
    // The night to a Sunday.
    const sunday = WEEK * Math.floor(day(from, minutes) / WEEK) + 6 * DAY + 60;
    out.push({ what: 'shifted hour', ...stays(sunday) });
  }
  const trial = atHour(day(from, minutes - DAY), 10, 6 * 60);
  out.push({ what: 'channel that appears once', ...trial });
  const rare = rarest(gateway);
  if (rare !== null)
    out.push({
      what: 'currency that vanishes',
      currency: rare,
      ...stays(from + Math.floor(0.6 * (minutes - from))),
    });
  const usual = PATHS.flatMap(({ level }, path) => (level === 'drawn' ? [path] : []));
  for (const start of [random.below(from), ...[0, 1].map(() => from + random.below(minutes - from))]) {
    const name = PATHS[usual[random.below(usual.length)] ?? 0]?.name.replace(' directly', '');
    const paths = usual.filter((path) => PATHS[path]?.name.replace(' directly', '') === name);
    const factor = Math.exp(random.normal());
    out.push({ what: 'change of habit', paths, factor, ...stays(start) });
  }
  for (const start of [day(WEEK, from), day(from, minutes - 2 * DAY)])
    out.push({ what: 'collector off', start, end: start + DAY });
  return out.toSorted((a, b) => a.start - b.start);
}

/** Minutes of which nothing is known. */
export const daysOff = (harmless: readonly Harmless[]): Harmless[] =>
  harmless.filter(({ what }) => what === 'collector off');

/** A currency with hardly any traffic; null where each has much. */
function rarest({ segments }: Gateway): string | null {
  const shares = new Map<string, number>();
  for (const { currency, channel, share } of segments)
    if (channel !== CHANNEL_THAT_APPEARS_ONCE) shares.set(currency, (shares.get(currency) ?? 0) + share);
  const [least] = [...shares].toSorted(([, a], [, b]) => a - b);
  return least !== undefined && least[1] < 0.15 ? least[0] : null;
}

/** What a segment's traffic is multiplied with in a minute; the trial channel's is its share. */
export function trafficFactors(
  gateway: Gateway,
  harmless: readonly Harmless[],
): (minute: number, into: Float64Array) => void {
  const gone = harmless.find(({ what }) => what === 'currency that vanishes');
  const trial = harmless.find(({ what }) => what === 'channel that appears once');
  return (minute, into) => {
    for (const [index, { currency, channel, share }] of gateway.segments.entries()) {
      const isThere = !(gone !== undefined && minute >= gone.start && currency === gone.currency);
      into[index] = isThere ? share : 0;
      if (channel === CHANNEL_THAT_APPEARS_ONCE)
        into[index] = trial !== undefined && minute >= trial.start && minute < trial.end ? TRIAL_SHARE : 0;
    }
  };
}
