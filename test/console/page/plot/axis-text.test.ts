import { describe, expect, it } from 'vitest';
import { timeLabels, timeTicks, valueLabels } from '../../../../console/page/plot/axis-text.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 15, 30);

describe('an axis', () => {
  it('has ticks at round times, with labels as short as they can be', () => {
    const ticks = timeTicks(NOW, NOW + 900_000, 6);
    expect(timeLabels(ticks, 900_000)).toEqual(['10:20', '10:25', '10:30']);
    expect(timeLabels(timeTicks(NOW, NOW + 20_000, 5), 20_000)).toEqual([
      '10:15:30',
      '10:15:35',
      '10:15:40',
      '10:15:45',
      '10:15:50',
    ]);
    expect(timeLabels(timeTicks(NOW, NOW + 3 * 86_400_000, 4), 3 * 86_400_000)).toEqual([
      '11/22',
      '11/23',
      '11/24',
    ]);
  });

  it.each([
    [[0, 0.25, 0.5, 0.75, 1], 'percentunit', ['0%', '25%', '50%', '75%', '100%']],
    [[0, 0.005, 0.01], 'percentunit', ['0%', '0.5%', '1%']],
    [[0, 2500, 5000, 7500, 10_000], 'short', ['0', '2.5 K', '5 K', '7.5 K', '10 K']],
    [[0, 0.2, 0.4], 'short', ['0', '0.2', '0.4']],
    [[0, 500, 1000, 1500, 2000], 'reqpm', ['0 req/m', '500 req/m', '1K req/m', '1.5K req/m', '2K req/m']],
    [[0, 10, 20], 's', ['0 s', '10 s', '20 s']],
  ])('labels %j in %s so that each can be distinguished', (ticks, unit, labels) => {
    expect(valueLabels(ticks, unit)).toEqual(labels);
  });
});
