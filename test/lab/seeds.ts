/**
 * Each seed is a gateway of its own, of one quarter of the year: four make a year. Settings of the rules are
 * chosen on the first list; the report shows the second, which nobody tunes on.
 */
export const SEEDS = {
  tuned: ['oak-1', 'oak-2', 'oak-3', 'oak-4'],
  reported: ['elm-1', 'elm-2', 'elm-3', 'elm-4'],
} as const;
export type SeedList = keyof typeof SEEDS;

/** Weeks that are scored of each seed, and those before, which are the past of its baselines. */
export const WARM_UP_WEEKS = 5;
export const SCORED_WEEKS = 13;
/** At thousands of orders a minute: what fits into memory and time. */
export const SCORED_WEEKS_WHEN_BUSY = 6;
export const scoredWeeks = (ordersPerMinute: number): number =>
  ordersPerMinute > 1000 ? SCORED_WEEKS_WHEN_BUSY : SCORED_WEEKS;

/** The quarter of the year that a seed lies in, by its place in its list: as weeks after September begins. */
export const weekOfYear = (place: number): number => (place % 4) * 13;
