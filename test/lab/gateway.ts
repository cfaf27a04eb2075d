import type { OrderType } from '../../schemas/dictionary.ts';
import { DIRECT_PATHS, FORM_PATHS, PATHS } from './paths.ts';
import type { Random } from './random.ts';

/** Orders of one order type, channel and currency. */
export interface Segment {
  readonly orderType: OrderType;
  readonly channel: string;
  readonly currency: string;
  /** Channels of one provider have good and bad hours together. */
  readonly provider: number;
  /** Of the gateway's traffic. 0..1. */
  readonly share: number;
  /** The paths that its orders can go; the first is that of orders without trouble. */
  readonly paths: readonly number[];
  /** Usual share of each path, by its place in PATHS; zero for the first path, which takes the rest. */
  readonly levels: Float64Array;
  /** Standard deviation of the logarithm of the time from submitting to the final status. */
  readonly timeSpread: number;
}

/** What distinguishes one gateway from another. */
export interface Gateway {
  /** The last one has no traffic of its own: the channel that appears once. */
  readonly segments: readonly Segment[];
  readonly providers: number;
  /** Share of the failed orders that the payer tries once more within minutes. */
  readonly retried: number;
}

/** Usual failures that an order recovers from have a level between nothing and this. */
export const HIGHEST_LEVEL = 0.08;

const CHANNELS = ['card', 'p2p', 'sbp', 'wallet', 'bank', 'crypto', 'applepay', 'voucher', 'mobile', 'cash'];
/** Their payers see no payment form. */
const DIRECT: ReadonlySet<string> = new Set(['p2p', 'bank', 'crypto']);
const CURRENCIES = ['USD', 'BRL', 'EUR', 'KZT', 'INR', 'TRY', 'UZS', 'NGN', 'AZN', 'PLN'];
export const CHANNEL_THAT_APPEARS_ONCE = 'trial';

export function drawGateway(random: Random): Gateway {
  const providers = 2 + random.below(3);
  const levels = drawLevels(random);
  const channels = shuffled(CHANNELS, random).slice(0, 4 + random.below(7));
  const currencies = shuffled(CURRENCIES, random).slice(0, 3 + random.below(8));
  const payouts = 0.1 + 0.25 * random.next();
  const providerOf = new Map(channels.map((channel) => [channel, random.below(providers)]));
  // A few channels and currencies have most of the traffic, and payouts go through some channels only.
  const weight = (place: number): number => Math.exp(0.3 * random.normal()) / (place + 1);
  const weights = {
    channels: channels.map((_, place) => weight(place)),
    currencies: currencies.map((_, place) => weight(place)),
  };
  const all = (['Deposit', 'Withdrawal'] as const).flatMap((orderType) =>
    channels.slice(0, orderType === 'Deposit' ? channels.length : 3).flatMap((channel, c) =>
      currencies.map((currency, k) => ({
        orderType,
        channel,
        currency,
        weight: (weights.channels[c] ?? 0) * (weights.currencies[k] ?? 0) * Math.exp(0.4 * random.normal()),
      })),
    ),
  );
  const most = all.toSorted((a, b) => b.weight - a.weight);
  const wanted = 10 + random.below(15);
  const deposits = most.filter(({ orderType }) => orderType === 'Deposit').slice(0, Math.ceil(wanted * 0.7));
  const withdrawals = most
    .filter(({ orderType }) => orderType === 'Withdrawal')
    .slice(0, Math.floor(wanted * 0.3));
  const segments = [
    ...sharing(deposits, 1 - payouts),
    ...sharing(withdrawals, payouts),
    { orderType: 'Deposit' as const, channel: CHANNEL_THAT_APPEARS_ONCE, currency: 'USD', share: 0 },
  ].map((one): Segment => {
    const paths = one.orderType === 'Withdrawal' || DIRECT.has(one.channel) ? DIRECT_PATHS : FORM_PATHS;
    return {
      ...one,
      provider: providerOf.get(one.channel) ?? 0,
      paths,
      levels: ownLevels(levels, paths, random),
      timeSpread: 0.5 + 0.5 * random.next(),
    };
  });
  return { segments, providers, retried: 0.1 + 0.3 * random.next() };
}

const sharing = <T extends { readonly weight: number }>(some: readonly T[], total: number) => {
  const sum = some.reduce((all, { weight }) => all + weight, 0);
  return some.map(({ weight, ...one }) => ({ ...one, share: (total * weight) / sum }));
};

/** The gateway's own level of each path. */
function drawLevels(random: Random): Float64Array {
  const byName = new Map<string, number>();
  return Float64Array.from(PATHS, ({ name, share, level }) => {
    // With a form and without: the same provider, so the same level.
    const key = name.replace(' directly', '');
    const known = byName.get(key);
    if (known !== undefined) return known;
    const factor = Math.min(2.5, Math.exp(0.5 * random.normal()));
    // Most gateways have little of a kind, some have much.
    const drawn = random.next() < 0.25 ? 0.0005 : HIGHEST_LEVEL * random.next() ** 2;
    const own = level === 'drawn' ? drawn : level === 'varied' ? share * factor : share;
    byName.set(key, own);
    return own;
  });
}

/** A segment's levels differ somewhat from the gateway's. */
function ownLevels(levels: Float64Array, paths: readonly number[], random: Random): Float64Array {
  const own = new Float64Array(PATHS.length);
  for (const path of paths.slice(1)) {
    const level = (levels[path] ?? 0) * Math.exp(0.25 * random.normal());
    own[path] = PATHS[path]?.level === 'drawn' ? Math.min(HIGHEST_LEVEL, level) : level;
  }
  return own;
}

/** Usual share of some paths among a segment's orders. */
export function usualShareOf({ levels, paths }: Segment, some: readonly number[]): number {
  const [first] = paths;
  return some.reduce((sum, path) => sum + (path === first ? 1 - total(levels) : (levels[path] ?? 0)), 0);
}

const total = (levels: Float64Array): number => levels.reduce((sum, level) => sum + level, 0);

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [out[last], out[other]] = [out[other] as T, out[last] as T];
  }
  return out;
}
