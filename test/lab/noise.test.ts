import { describe, expect, it } from 'vitest';
import { createDrawer } from './draw.ts';
import { drawGateway, type Gateway } from './gateway.ts';
import type { Harmless } from './harmless.ts';
import { type Levels, STEP, wanderingLevels } from './noise.ts';
import { PATHS, pathsNamed } from './paths.ts';
import { createRandom } from './random.ts';
import { WEEK } from './seasons.ts';

const levelsFor = ({ segments }: Gateway): Levels => ({
  shares: segments.map(() => new Float64Array(PATHS.length)),
  slowness: new Float64Array(segments.length),
});

/** The share of a path in a segment over some weeks, every half hour. */
function course(gateway: Gateway, harmless: readonly Harmless[], weeks: number) {
  const levels = levelsFor(gateway);
  const wander = wanderingLevels(gateway, harmless, createRandom('course'));
  const seen: number[][][] = [];
  for (let minute = 0; minute < weeks * WEEK; minute += STEP) {
    wander(minute, levels);
    seen.push(levels.shares.map((shares) => [...shares]));
  }
  return (segment: number, path: number): number[] => seen.map((shares) => shares[segment]?.[path] ?? 0);
}

const mean = (values: readonly number[] | Float64Array): number =>
  Array.from(values).reduce((sum, one) => sum + one, 0) / values.length;

function correlation(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [mean(one), mean(other)];
  const sum = (of: (index: number) => number): number => one.reduce((all, _, index) => all + of(index), 0);
  const da = (index: number): number => (one[index] ?? 0) - a;
  const db = (index: number): number => (other[index] ?? 0) - b;
  return sum((i) => da(i) * db(i)) / Math.sqrt(sum((i) => da(i) ** 2) * sum((i) => db(i) ** 2));
}

describe('the noise of a gateway', () => {
  const gateway = drawGateway(createRandom('noise'));
  const [timeout = 0] = pathsNamed('createTimeout');
  const [limit = 0] = pathsNamed('limit');

  it('is shared by the paths of one provider, and not by those of another', () => {
    const of = course(gateway, [], 12);
    const provider = gateway.segments[0]?.provider;
    const other = gateway.segments.findIndex((segment) => segment.provider !== provider);
    expect(other).toBeGreaterThan(0);
    const together = correlation(of(0, limit), of(0, timeout));
    expect(together).toBeGreaterThan(0.1);
    expect(correlation(of(0, limit), of(other, timeout))).toBeLessThan(together - 0.05);
  });

  it('moves by a factor when a deployment changes a habit, and stays there', () => {
    const start = 6 * WEEK;
    const change = { what: 'change of habit', paths: [timeout], factor: 2.5, start, end: 10 * WEEK } as const;
    const [calm, changed] = [course(gateway, [], 12)(0, timeout), course(gateway, [change], 12)(0, timeout)];
    const at = start / STEP;
    expect(changed.slice(0, at)).toEqual(calm.slice(0, at));
    expect(mean(changed.slice(at)) / mean(calm.slice(at))).toBeCloseTo(2.5, 5);
    expect((changed.at(-1) ?? 0) / (calm.at(-1) ?? 1)).toBeCloseTo(2.5, 5);
  });
});

describe('payers of failed orders', () => {
  it('come again within minutes, in the share that the gateway has', () => {
    const gateway: Gateway = { ...drawGateway(createRandom('payers')), retried: 0.4 };
    const orders = new Float64Array(3000);
    let now = 0;
    const drawer = createDrawer(gateway, createRandom('orders'), (_segment, _path, _delay, count) => {
      orders[now] = (orders[now] ?? 0) + count;
    });
    const levels = levelsFor(gateway);
    const [failing = 0] = gateway.segments[0]?.paths.filter((path) => PATHS[path]?.name === 'balance') ?? [];
    levels.shares[0]?.fill(1, failing, failing + 1);
    drawer.prepare(levels);
    for (; now < orders.length; now++) drawer.orders(now, 0, now < 2000 ? 5 : 0);
    const perMinute = mean(orders.slice(100, 2000)) / 5;
    expect(perMinute).toBeGreaterThan(1.55);
    expect(perMinute).toBeLessThan(1.8);
    expect(orders[2001]).toBeGreaterThan(0);
    expect(Math.max(...orders.slice(2200))).toBe(0);
  });
});
