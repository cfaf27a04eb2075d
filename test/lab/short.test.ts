import { beforeAll, describe, expect, it } from 'vitest';
import { figuresOf, share, type VolumeFigures } from './figures.ts';
import { classesFromEngine, type RuleSet, scoreVolume } from './months.ts';

/**
 * The lab in small: every kind of incident once in each form, and some quiet weeks, at a low and at a usual
 * volume.
 */
const VOLUMES = [2, 20];
const WEEKS = 16;

const figures = new Map<number, VolumeFigures>();
beforeAll(async () => {
  const classes = await classesFromEngine();
  for (const ordersPerMinute of VOLUMES)
    figures.set(
      ordersPerMinute,
      figuresOf(scoreVolume({ seed: 'short', ordersPerMinute, weeks: WEEKS }, classes)),
    );
});

describe.each(VOLUMES)('at %d orders a minute', (volume) => {
  const sets = (): VolumeFigures['sets'] =>
    figures.get(volume)?.sets ?? expect.fail('the lab did not run to its end');

  it('finds every severe incident, in time', () => {
    const { severe } = sets().ours.forms;
    expect(severe.incidents).toBeGreaterThan(35);
    expect(severe.detected).toBe(severe.incidents);
    expect(sets().ours.severeTimeOverAllowed).toBeLessThanOrEqual(1);
  });

  it('finds nearly every medium incident, and within a quarter of an hour while there is traffic', () => {
    const { forms, mediumWhileBusy: busy } = sets().ours;
    expect(share(forms.medium.detected, forms.medium.incidents)).toBeGreaterThanOrEqual(0.9);
    expect(share(busy.within15, busy.incidents)).toBeGreaterThanOrEqual(0.9);
  });

  it('seldom pages for nothing', () => {
    // Few quiet weeks show no rate of rare pages: the full lab does. What must not be are pages by the dozen.
    expect(sets().ours.falsePagesPerMonth.critical).toBeLessThanOrEqual(2);
    expect(sets().ours.falsePagesPerMonth.all).toBeLessThanOrEqual(15);
  });

  it.each(['static', 'sigma'] satisfies RuleSet[])(
    'finds more than the copied rule %s, for less',
    (copied) => {
      const found = (set: RuleSet): number =>
        sets()[set].forms.severe.detected + sets()[set].forms.medium.detected;
      expect(found('ours')).toBeGreaterThan(found(copied));
      expect(sets().ours.falsePagesPerMonth.critical).toBeLessThan(
        sets()[copied].falsePagesPerMonth.critical,
      );
    },
  );
});
