import { createClassifier } from './classify.ts';
import type { Months } from './months.ts';
import { PATHS } from './paths.ts';
import { detections, type Detection, falsePages, type FalsePages, quietMonths } from './score.ts';
import { simulate, type SimulationOptions } from './simulate.ts';
import { slicesOf } from './slices.ts';
import { type Classes, classifyRules } from './twins.ts';
import { watchersOf } from './watchers.ts';

/** The months of one gateway, and what the rules were worth in them. */
export interface Run {
  readonly seed: string;
  readonly ordersPerMinute: number;
  readonly orders: number;
  readonly weeks: number;
  readonly quietMonths: number;
  readonly gateway: GatewayFacts;
  readonly detections: readonly Detection[];
  readonly falsePages: readonly FalsePages[];
}

/** What kind of gateway it was. */
export interface GatewayFacts {
  readonly segments: number;
  readonly channels: number;
  readonly currencies: number;
  /** Share of the orders that meet a failure and recover from it. 0..1. */
  readonly recovering: number;
  /** Share of the orders that fail. 0..1. */
  readonly failing: number;
}

export interface RunOptions extends SimulationOptions {
  /** Judge gateways as wholes only, without their slices: quicker. @default false */
  readonly wholeOnly?: boolean;
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

export function scoreRun(options: RunOptions, classes: Classes): Run {
  const months = simulate(options);
  const { gateway } = months;
  const slices = options.wholeOnly === true ? [] : slicesOf(gateway);
  const watchers = watchersOf(months, classes, slices);
  return {
    seed: options.seed,
    ordersPerMinute: options.ordersPerMinute,
    orders: ordersIn(months),
    weeks: (months.minutes - months.from) / (7 * 1440),
    quietMonths: quietMonths(months),
    gateway: factsOf(months),
    detections: detections(months.incidents, watchers),
    falsePages: falsePages(months, watchers),
  };
}

function factsOf({ gateway: { segments } }: Months): GatewayFacts {
  const usual = segments.filter(({ share }) => share > 0);
  const sum = (isCounted: (path: number) => boolean): number =>
    usual.reduce(
      (all, { share, paths, levels }) =>
        all + share * paths.filter(isCounted).reduce((total, path) => total + (levels[path] ?? 0), 0),
      0,
    );
  return {
    segments: usual.length,
    channels: new Set(usual.map(({ channel }) => channel)).size,
    currencies: new Set(usual.map(({ currency }) => currency)).size,
    recovering: sum((path) => PATHS[path]?.level === 'drawn'),
    failing: sum((path) => PATHS[path]?.level !== 'drawn'),
  };
}

function ordersIn({ orders }: Months): number {
  let total = 0;
  for (const paths of orders)
    for (const [path] of PATHS.entries()) for (const count of paths[path] ?? []) total += count;
  return total;
}
