import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNumber, plainText } from '../../../../console/page/model/units.ts';

const shown = (value: number, unit: string, decimals: number | null = null): string =>
  plainText(formatNumber(value, unit, decimals));

describe('a number in a unit of Grafana', () => {
  it.each([
    [0.5722, 'percentunit', 2, '57.22%'],
    [0.0015, 'percentunit', null, '0.150%'],
    [1, 'percentunit', null, '100%'],
    [540, 'short', 0, '540'],
    [1234, 'short', null, '1.23 K'],
    [1_500_000, 'short', 1, '1.5 Mil'],
    [0.25, 'short', null, '0.250'],
    [1234.5, 'locale', 0, '1,235'],
    [12, 'none', null, '12'],
    [0, 's', 0, '0 s'],
    [15, 's', 0, '15 s'],
    [90, 's', 0, '1.5 mins'],
    [60, 's', 0, '1 min'],
    [0.25, 's', 0, '250 ms'],
    [7200, 's', null, '2 hours'],
    [172_800, 's', null, '2 days'],
    [250, 'ms', 0, '250 ms'],
    [0.494, 'ms', 0, '0 ms'],
    [0.494, 'ms', 1, '0.5 ms'],
    [1393, 'ms', 3, '1.393 s'],
    [36.66, 'opm', 1, '36.7 ops/m'],
    [2200, 'reqpm', 1, '2.2K req/m'],
    [1536, 'bytes', null, '1.50 KiB'],
    [512, 'bytes', null, '512 B'],
    [Date.UTC(2026, 10, 21, 10, 15, 30), 'dateTimeAsIso', null, '2026-11-21 10:15:30'],
    [3, 'orders', null, '3 orders'],
    [-0.0001, 'short', 0, '0'],
  ])('%d in %s with %s decimals is %s', (value, unit, decimals, expected) => {
    expect(shown(value, unit, decimals)).toBe(expected);
  });

  it('is always text, and never a name of something else', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom('short', 's', 'ms', 'bytes', 'percentunit', 'constructor', ''),
        (value, unit) => {
          expect(shown(value, unit)).not.toMatch(/NaN|undefined|function/);
        },
      ),
    );
  });
});
