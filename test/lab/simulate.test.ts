import { describe, expect, it } from 'vitest';
import { KINDS } from './incidents.ts';
import { PATHS, pathIndex } from './paths.ts';
import { createRandom } from './random.ts';
import { WEEK } from './seasons.ts';
import { simulate } from './simulate.ts';

describe('random numbers', () => {
  it.each([0.02, 3, 9.9, 10, 47, 2000])('are Poisson with mean and variance %d', (mean) => {
    const random = createRandom('poisson');
    const counts = Array.from({ length: 40_000 }, () => random.poisson(mean));
    const average = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const variance = counts.reduce((sum, count) => sum + (count - average) ** 2, 0) / counts.length;
    expect(Math.abs(average - mean)).toBeLessThan(5 * Math.sqrt(mean / counts.length));
    expect(variance / mean).toBeGreaterThan(0.94);
    expect(variance / mean).toBeLessThan(1.06);
  });
});

describe('synthetic months', () => {
  const months = simulate({ seed: 'test', ordersPerMinute: 2, weeks: 40 });

  it('are the same for the same seed, and others for another', () => {
    const again = simulate({ seed: 'test', ordersPerMinute: 2, weeks: 40 });
    expect(again.orders[0]?.[0]).toEqual(months.orders[0]?.[0]);
    expect(again.incidents).toEqual(months.incidents);
    const other = simulate({ seed: 'other', ordersPerMinute: 2, weeks: 12 });
    expect(other.orders[0]?.[0]?.slice(0, 1000)).not.toEqual(months.orders[0]?.[0]?.slice(0, 1000));
  });

  it('hold every kind of incident in every form, one at a time, after the weeks that baselines need', () => {
    const wanted = KINDS.flatMap((kind) => kind.forms.map((form) => `${kind.name} ${form}`));
    const there = new Set(months.incidents.map(({ kind, form }) => `${kind.name} ${form}`));
    expect([...there].toSorted()).toEqual(wanted.toSorted());
    let end = months.from;
    for (const incident of months.incidents) {
      expect(incident.start).toBeGreaterThan(end + 60);
      end = incident.end;
    }
  });

  it('have the traffic that was asked for, more in the evening than at night', () => {
    const at = (hour: number): number => {
      let total = 0;
      for (let day = 0; day < 35; day++)
        for (let minute = 0; minute < 60; minute++)
          for (const paths of months.orders)
            for (const [path] of PATHS.entries())
              total += paths[path]?.[day * 1440 + hour * 60 + minute] ?? 0;
      return total;
    };
    expect(at(20)).toBeGreaterThan(5 * at(4));
    const first = Array.from({ length: 24 }, (_, hour) => at(hour)).reduce((sum, count) => sum + count, 0);
    expect(first / (35 * 1440)).toBeGreaterThan(1.7);
    expect(first / (35 * 1440)).toBeLessThan(2.3);
  });

  it('raise the failing share by what the form says', () => {
    const path = pathIndex('createTimeout');
    const incident = months.incidents.find(
      ({ kind, form }) => kind.name === 'create timeouts' && form === 'severe',
    );
    let failed = 0;
    let all = 0;
    for (let minute = incident?.start ?? 0; minute < (incident?.end ?? 0); minute++)
      for (const paths of months.orders)
        for (const [index] of PATHS.entries()) {
          const count = paths[index]?.[minute] ?? 0;
          all += count;
          if (index === path) failed += count;
        }
    expect(failed / all).toBeGreaterThan(0.35);
    expect(failed / all).toBeLessThan(0.65);
  });

  it('are quiet at the end, so that pages without a cause show', () => {
    expect(months.incidents.at(-1)?.end).toBeLessThan(months.minutes - 3 * WEEK);
  });
});
