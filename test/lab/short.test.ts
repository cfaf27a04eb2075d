import { beforeAll, describe, expect, it } from 'vitest';
import { aimsOf } from './aims.ts';
import { figuresOf, share, type VolumeFigures } from './figures.ts';
import { classesFromEngine, type Run, scoreRun } from './runs.ts';
import { SEEDS } from './seeds.ts';

/** The lab in small: one gateway of the tuned seeds at a usual volume, with every slice judged. */
const [SEED] = SEEDS.tuned;
const ordersPerMinute = 20;

let run: Run;
let figures: VolumeFigures;
beforeAll(async () => {
  run = scoreRun({ seed: SEED, ordersPerMinute, weeks: 10, warmUpWeeks: 4 }, await classesFromEngine());
  figures = figuresOf([run]);
});

describe('the lab in small', () => {
  it('finds nearly every severe incident of the whole gateway, within minutes', () => {
    const { severe, severeWhileBusy } = figures;
    expect(severe.incidents).toBeGreaterThan(10);
    expect(share(severe.detected, severe.incidents)).toBeGreaterThanOrEqual(0.8);
    expect(severeWhileBusy.medianToDetect).toBeLessThanOrEqual(5);
  });

  it('finds severe incidents of slices, and names a slice that explains them', () => {
    const { sorts, named } = figures;
    expect(sorts['slice severe']?.incidents).toBeGreaterThan(5);
    expect(sorts['slice severe']?.detected).toBeGreaterThan(0);
    expect(named.explained).toBeGreaterThan(5);
    expect(named.right).toBeGreaterThan(0);
    expect(named.right).toBeLessThanOrEqual(named.explained);
  });

  it('counts every false page once by rule and once by occasion', () => {
    const sum = (pages: Readonly<Record<string, number>>): number =>
      Object.values(pages).reduce((total, count) => total + count, 0);
    const counted = run.falsePages.reduce((total, { count }) => total + count, 0) / run.quietMonths;
    expect(sum(figures.falsePagesByRule)).toBeCloseTo(counted, 0);
    expect(sum(figures.falsePagesByOccasion)).toBeCloseTo(counted, 0);
    expect(figures.falsePagesPerMonth.all).toBeCloseTo(counted, 1);
  });

  it('scores every aim', () => {
    const aims = aimsOf([figures]);
    expect(aims).toHaveLength(8);
    for (const { measured, met } of aims) {
      expect(measured).toHaveLength(1);
      expect(measured.every((one) => one.met)).toBe(met);
      expect(measured[0]?.value).not.toBeNull();
    }
  });
});

describe('the seeds', () => {
  it('on which settings are chosen are never those that are reported', () => {
    const reported: readonly string[] = SEEDS.reported;
    expect(SEEDS.tuned.filter((seed) => reported.includes(seed))).toEqual([]);
    expect(SEEDS.tuned).toHaveLength(4);
    expect(reported).toHaveLength(4);
  });
});
