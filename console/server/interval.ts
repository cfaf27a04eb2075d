import { readDurationMs } from '../../schemas/duration.ts';

/** Widths that Grafana rounds to: up to the bound, take the width. Milliseconds. */
// prettier-ignore
const STEPS: readonly (readonly [bound: number, width: number])[] = [
  [15, 10], [35, 20], [75, 50], [150, 100], [350, 200], [750, 500], [1_500, 1_000], [3_500, 2_000], [7_500, 5_000],
  [12_500, 10_000], [17_500, 15_000], [25_000, 20_000], [45_000, 30_000], [90_000, 60_000], [210_000, 120_000],
  [450_000, 300_000], [750_000, 600_000], [1_050_000, 900_000], [1_500_000, 1_200_000], [2_700_000, 1_800_000],
  [5_400_000, 3_600_000], [9_000_000, 7_200_000], [16_200_000, 10_800_000], [32_400_000, 21_600_000],
  [86_400_000, 43_200_000], [604_800_000, 86_400_000], [1_814_400_000, 604_800_000],
];
const MONTH = 2_592_000_000;

/**
 * Width of a bucket: the range by the points there is room for, rounded as Grafana does, and not below the
 * panel's own: `1m` or `>1m`.
 */
export function intervalFor(rangeMs: number, maxDataPoints: number, least: string | undefined): number {
  const exact = rangeMs / maxDataPoints;
  const rounded = STEPS.find(([bound]) => exact < bound)?.[1] ?? MONTH;
  return Math.max(rounded, readDurationMs(least?.replace('>', '') ?? '') ?? 0);
}
