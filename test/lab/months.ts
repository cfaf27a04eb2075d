import { createClassifier } from './classify.ts';
import type { Incident } from './incidents.ts';
import {
  detections,
  type Detection,
  falsePages,
  type FalsePages,
  quietMonths,
  sidePages,
  type Watcher,
} from './score.ts';
import { type Months, simulate, type SimulationOptions } from './simulate.ts';
import { type Classes, classifyRules, createTwins } from './twins.ts';
import { copiedWatchers, ourWatchers } from './watchers.ts';

/** Whose rules: ours, and the two that people copy. */
export const SETS = ['ours', 'static', 'sigma'] as const;
export type RuleSet = (typeof SETS)[number];

export interface SetScore {
  readonly detections: readonly Detection[];
  readonly falsePages: readonly FalsePages[];
  /** Pages of rules that do not cover the incident during which they began. */
  readonly sidePages: number;
}

export interface VolumeScore {
  readonly ordersPerMinute: number;
  readonly orders: number;
  readonly weeks: number;
  readonly quietMonths: number;
  readonly incidents: readonly Incident[];
  readonly sets: Readonly<Record<RuleSet, SetScore>>;
}

/** What the rules count, asked from the real engine once. */
export async function classesFromEngine(): Promise<Classes> {
  const classifier = await createClassifier();
  try {
    return await classifyRules(classifier);
  } finally {
    await classifier.stop();
  }
}

/** One volume: months of traffic, all rules over them, and what they are worth. */
export function scoreVolume(options: SimulationOptions, classes: Classes): VolumeScore {
  const months = simulate(options);
  const twins = createTwins(months, classes);
  const score = (watchers: readonly Watcher[]): SetScore => ({
    detections: detections(months.incidents, watchers),
    falsePages: falsePages(months, watchers),
    sidePages: sidePages(months, watchers),
  });
  return {
    ordersPerMinute: options.ordersPerMinute,
    orders: ordersIn(months),
    weeks: options.weeks,
    quietMonths: quietMonths(months),
    incidents: months.incidents,
    sets: {
      ours: score(ourWatchers(months, twins)),
      static: score(copiedWatchers(months, twins, 'static')),
      sigma: score(copiedWatchers(months, twins, 'sigma')),
    },
  };
}

function ordersIn(months: Months): number {
  let total = 0;
  for (const paths of months.orders) for (const counts of paths) for (const count of counts) total += count;
  return total;
}
