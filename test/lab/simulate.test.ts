import { describe, expect, it } from 'vitest';
import { slownessOf } from './counts.ts';
import { drawGateway, HIGHEST_LEVEL } from './gateway.ts';
import { type Incident, isOn } from './incidents.ts';
import { KINDS } from './kinds.ts';
import type { Months } from './months.ts';
import { PATHS, pathsNamed } from './paths.ts';
import { createRandom } from './random.ts';
import { DAY } from './seasons.ts';
import { simulate } from './simulate.ts';
import { explanationsOf, overlap, slicesOf, troubledSlices, wholeOf } from './slices.ts';

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

describe('gateways', () => {
  const gateways = Array.from({ length: 40 }, (_, index) => drawGateway(createRandom(`gateway ${index}`)));

  it('have ten to twenty-four segments that share the traffic, of both order types', () => {
    for (const { segments } of gateways) {
      const usual = segments.filter(({ share }) => share > 0);
      expect(usual.length).toBeGreaterThanOrEqual(10);
      expect(usual.length).toBeLessThanOrEqual(24);
      expect(new Set(usual.map(({ orderType }) => orderType)).size).toBe(2);
      expect(usual.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    }
    const most = Math.max(
      ...gateways.map(({ segments }) => new Set(segments.map(({ channel }) => channel)).size),
    );
    expect(most).toBeGreaterThanOrEqual(7);
  });

  it('have usual failures that orders recover from at any level up to 8 %', () => {
    const recovering = PATHS.flatMap(({ level }, path) => (level === 'drawn' ? [path] : []));
    const levels = gateways.flatMap(({ segments }) =>
      recovering.map((path) => Math.max(...segments.map((segment) => segment.levels[path] ?? 0))),
    );
    expect(Math.max(...levels)).toBeLessThanOrEqual(HIGHEST_LEVEL);
    expect(levels.filter((level) => level > 0.05).length).toBeGreaterThan(levels.length / 20);
    expect(levels.filter((level) => level < 0.005).length).toBeGreaterThan(levels.length / 20);
  });

  it('have slices that are named as evaluations name them, and explain what befalls them', () => {
    for (const gateway of gateways.slice(0, 10)) {
      const payouts = slicesOf(gateway).find(({ name }) => name === 'order_type=Withdrawal');
      expect(payouts?.share).toBeGreaterThan(0.05);
      for (const slice of slicesOf(gateway)) {
        expect(slice.name).toMatch(/^(order_type|channel|currency)=\w+$/);
        if (slice.share > 0) expect(explanationsOf(gateway, slice)).toContain(slice.name);
      }
      expect(troubledSlices(gateway).some(({ name }) => name.includes(','))).toBe(true);
      expect(overlap(gateway, wholeOf(gateway), payouts ?? wholeOf(gateway))).toBeCloseTo(
        payouts?.share ?? 1,
        9,
      );
    }
  });
});

describe('synthetic months', () => {
  const months = simulate({ seed: 'test', ordersPerMinute: 10, weeks: 40 });
  const ordersOf = ({ orders }: Months, minute: number, some = PATHS.map((_, path) => path)): number =>
    orders.reduce((sum, paths) => sum + some.reduce((all, path) => all + (paths[path]?.[minute] ?? 0), 0), 0);
  const within = (from: number, to: number, some?: readonly number[]): number => {
    let total = 0;
    for (let minute = from; minute < to; minute++) total += ordersOf(months, minute, some?.slice());
    return total;
  };
  const during = ({ start, end }: Incident, some?: readonly number[]): number => within(start, end, some);
  const incident = (test: (one: Incident) => boolean): Incident =>
    months.incidents.find(test) ?? expect.fail('there is no such incident');
  const happened = (what: string) =>
    months.harmless.find((one) => one.what === what && one.start >= months.from) ??
    expect.fail(`there is no ${what}`);

  it('are the same for the same seed, and others for another', () => {
    const again = simulate({ seed: 'test', ordersPerMinute: 10, weeks: 40 });
    expect(again.orders[0]?.[0]).toEqual(months.orders[0]?.[0]);
    expect(again.incidents).toEqual(months.incidents);
    const other = simulate({ seed: 'other', ordersPerMinute: 10, weeks: 12 });
    expect(other.orders[0]?.[0]?.slice(0, 1000)).not.toEqual(months.orders[0]?.[0]?.slice(0, 1000));
  });

  it('hold every kind of incident in every form, one at a time, after the weeks that baselines need', () => {
    const wanted = KINDS.flatMap((kind) => kind.forms.map((form) => `${kind.name} ${form}`));
    const whole = months.incidents.filter(({ sort }) => sort === 'whole');
    expect([...new Set(whole.map(({ kind, form }) => `${kind.name} ${form}`))].toSorted()).toEqual(
      wanted.toSorted(),
    );
    expect(new Set(months.incidents.map(({ sort }) => sort)).size).toBe(6);
    let end = months.from;
    for (const one of months.incidents) {
      expect(one.start).toBeGreaterThan(end + 60);
      end = one.end;
    }
    expect(end).toBeLessThan(months.minutes - 3 * 7 * DAY);
  });

  it('have the traffic that was asked for, more in the evening than at night', () => {
    const at = (hour: number): number => {
      let total = 0;
      for (let day = 0; day < 28; day++) total += within(day * DAY + hour * 60, day * DAY + hour * 60 + 60);
      return total;
    };
    expect(at(20)).toBeGreaterThan(5 * at(4));
    const all = Array.from({ length: 24 }, (_, hour) => at(hour)).reduce((sum, count) => sum + count, 0);
    expect(all / (28 * DAY)).toBeGreaterThan(8.5);
    expect(all / (28 * DAY)).toBeLessThan(12.5);
  });

  it('have orders of segments that add up to those of the gateway', () => {
    for (const minute of [0, 9999, months.from + 5432]) {
      const bySegment = months.segments.map((orders) => ordersOf({ ...months, orders }, minute));
      expect(bySegment.reduce((sum, count) => sum + count, 0)).toBe(ordersOf(months, minute));
    }
  });

  it('raise the failing share by what the form says, in the slice alone where it befalls one', () => {
    const paths = pathsNamed('createTimeout');
    const severe = incident(
      ({ kind, form, sort }) => `${sort} ${kind.name} ${form}` === 'whole create timeouts severe',
    );
    expect(during(severe, paths) / during(severe)).toBeGreaterThan(0.4);
    expect(during(severe, paths) / during(severe)).toBeLessThan(0.6);
    const payouts = incident(({ sort }) => sort === 'half of all withdrawals');
    const failing = payouts.kind.effect.type === 'share' ? payouts.kind.effect.targets : [];
    const failed = months.segments.map((orders) => {
      const own: Months = { ...months, orders };
      let [some, all] = [0, 0];
      for (let minute = payouts.start; minute < payouts.end; minute++) {
        some += ordersOf(own, minute, [...failing]);
        all += ordersOf(own, minute);
      }
      return { some, all };
    });
    const shareIn = (isIn: (segment: number) => boolean): number => {
      const own = failed.filter((_, segment) => isIn(segment));
      return own.reduce((sum, { some }) => sum + some, 0) / own.reduce((sum, { all }) => sum + all, 0);
    };
    expect(shareIn((segment) => payouts.slice.segments.includes(segment))).toBeGreaterThan(0.35);
    expect(shareIn((segment) => !payouts.slice.segments.includes(segment))).toBeLessThan(0.1);
  });

  it('flap for two minutes out of every twenty', () => {
    const flapping = incident(({ sort }) => sort === 'flapping');
    const on = Array.from({ length: 180 }, (_, index) => isOn(flapping, flapping.start + index));
    expect(on.filter(Boolean)).toHaveLength(18);
    expect(flapping.end - flapping.start).toBe(180);
  });

  it('have slow orders: one of twenty, and many more while orders take three times as long', () => {
    const slow = incident(
      ({ sort, form, slice }) => sort === 'slow-down' && form === 'medium' && slice.name === '',
    );
    const { seen, hit } = slownessOf(months, wholeOf(months.gateway));
    const usual = hit.between(0, months.from) / seen.between(0, months.from);
    expect(usual).toBeGreaterThan(0.04);
    expect(usual).toBeLessThan(0.07);
    expect(hit.between(slow.start, slow.end) / seen.between(slow.start, slow.end)).toBeGreaterThan(0.25);
  });

  it('have five times the traffic in a campaign, and none while the collector is off', () => {
    const campaign = happened('campaign');
    const before = within(campaign.start - 60, campaign.start) / 60;
    expect(
      within(campaign.start + 20, campaign.end - 10) / (campaign.end - campaign.start - 30),
    ).toBeGreaterThan(2.5 * before);
    const off = happened('collector off');
    expect(within(off.start, off.end)).toBe(0);
    expect(months.reporting.slice(off.start, off.end).every((reports) => reports === 0)).toBe(true);
  });

  it('have a channel for some hours alone, and lose a currency', () => {
    const { start, end } = happened('channel that appears once');
    const count = (segment: number, from: number, to: number): number => {
      let total = 0;
      for (const paths of months.segments[segment] ?? [])
        for (const counts of paths) for (const one of counts?.slice(from, to) ?? []) total += one;
      return total;
    };
    const trial = months.gateway.segments.length - 1;
    expect(count(trial, start, end + 10)).toBeGreaterThan(20);
    expect(count(trial, 0, start) + count(trial, end + 10, months.minutes)).toBe(0);
    const gone = happened('currency that vanishes');
    const own = months.gateway.segments.flatMap(({ currency, share }, index) =>
      currency === gone.currency && share > 0 ? [index] : [],
    );
    expect(own.length).toBeGreaterThan(0);
    for (const segment of own) {
      expect(count(segment, 0, gone.start)).toBeGreaterThan(0);
      expect(count(segment, gone.start + 10, months.minutes)).toBe(0);
    }
  });
});
