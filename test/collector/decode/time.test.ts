import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTime, parseLocalTime, parseTime } from '../../../collector/decode/time.ts';

const FIRST = Date.UTC(2000, 0, 1) * 1000;
const LAST = Date.UTC(2100, 0, 1) * 1000 - 1;
const instant = fc.integer({ min: FIRST, max: LAST });
const two = (value: number) => String(value).padStart(2, '0');
/** `YYYY-MM-DDTHH:MM:SS` of an instant, by the runtime's own calendar. */
const wallClock = (micros: number) => new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19);
const microsOfSecond = (micros: number) =>
  String(((micros % 1_000_000) + 1_000_000) % 1_000_000).padStart(6, '0');

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const daysIn = (year: number, month: number) =>
  [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;

describe('parseTime', () => {
  it('reads back every instant that formatTime writes', () => {
    fc.assert(
      fc.property(instant, (micros) => {
        expect(formatTime(micros)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(parseTime(formatTime(micros))).toBe(micros);
      }),
      { numRuns: 5_000 },
    );
  });

  it('counts a time without a zone as UTC, whatever stands between date and time', () => {
    fc.assert(
      fc.property(
        instant,
        fc.constantFrom('T', 't', ' '),
        fc.constantFrom('', 'Z', 'z'),
        (micros, gap, zone) => {
          const text = `${wallClock(micros).replace('T', gap)}.${microsOfSecond(micros)}${zone}`;
          expect(parseTime(text)).toBe(micros);
        },
      ),
    );
  });

  it('takes an offset off, in each of its spellings', () => {
    const offset = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 });
    fc.assert(
      fc.property(instant, offset, fc.constantFrom(':', ''), (micros, minutes, colon) => {
        const local = micros + minutes * 60_000_000;
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const sign = minutes < 0 ? '-' : '+';
        const start = `${wallClock(local)}.${microsOfSecond(local)}${sign}${two(hours)}`;
        expect(parseTime(`${start}${colon}${two(rest)}`)).toBe(micros);
        // Hours alone are enough when there are no minutes.
        expect(parseTime(rest === 0 ? start : `${start}:${two(rest)}`)).toBe(micros);
      }),
      { numRuns: 2_000 },
    );
  });

  it('cuts digits beyond microseconds off and fills missing ones with zeros', () => {
    fc.assert(
      fc.property(
        instant,
        fc.stringMatching(/^[0-9]{1,9}$/),
        fc.constantFrom('.', ','),
        (micros, digits, point) => {
          const second = Math.floor(micros / 1_000_000) * 1_000_000;
          const expected = second + Number(digits.padEnd(6, '0').slice(0, 6));
          expect(parseTime(`${wallClock(second)}${point}${digits}Z`)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('reads a time without a fraction', () => {
    expect(parseTime('2026-11-21T10:15:30Z')).toBe(Date.UTC(2026, 10, 21, 10, 15, 30) * 1000);
  });

  it('knows which days exist, leap years included', () => {
    const wrong: string[] = [];
    for (let year = 2000; year < 2100; year++) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = `${year}-${two(month)}-${two(day)}T12:00:00Z`;
          const exists = day >= 1 && day <= daysIn(year, month);
          if ((parseTime(text) !== null) !== exists) wrong.push(text);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['2000-01-01T00:00:00Z', FIRST],
    ['2099-12-31T23:59:59.999999999Z', LAST],
    ['1999-12-31T23:00:00-01:00', FIRST],
    ['2100-01-01T00:59:59.999999+01:00', LAST],
    ['2024-02-29T23:59:59.5-00:00', Date.UTC(2024, 1, 29, 23, 59, 59, 500) * 1000],
  ])('reads %s', (text, micros) => {
    expect(parseTime(text)).toBe(micros);
  });

  it.each([
    ['2026-11-21T10:15Z', '2026-11-21T10:15:00.000000Z'],
    ['2026-11-21T10:15+02:00', '2026-11-21T08:15:00.000000Z'],
    ['20261121T101530Z', '2026-11-21T10:15:30.000000Z'],
    ['20261121T101530.25+0130', '2026-11-21T08:45:30.250000Z'],
    ['20261121T1015', '2026-11-21T10:15:00.000000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
    ['2016-12-31T23:59:60.999Z', '2017-01-01T00:00:00.000000Z'],
    ['2026-11-21T10:15:30.012345678901234Z', '2026-11-21T10:15:30.012345Z'],
    ['2026-11-21T10:15:30,5Z', '2026-11-21T10:15:30.500000Z'],
    ['2026-11-21T10:15:30Z[UTC]', '2026-11-21T10:15:30.000000Z'],
    ['2026-11-21T10:15:30+00:00[GMT]', '2026-11-21T10:15:30.000000Z'],
    ['2026-11-21T10:15:30+01:00[Europe/Paris]', '2026-11-21T09:15:30.000000Z'],
  ])('reads %s as %s', (text, read) => {
    expect(formatTime(parseTime(text) ?? 0)).toBe(read);
  });

  it.each([
    ['before its years', '1999-12-31T23:59:59.999999Z'],
    ['before its years by its offset', '2000-01-01T00:30:00+01:00'],
    ['after its years', '2100-01-01T00:00:00Z'],
    ['after its years by its offset', '2099-12-31T23:30:00-01:00'],
    ['of the first century', '0026-11-21T10:15:30Z'],
    ['of a year with five digits', '12026-11-21T10:15:30Z'],
    ['of a signed year', '+002026-11-21T10:15:30Z'],
    ['with an hour 24', '2026-11-21T24:00:00Z'],
    ['with a minute 60', '2026-11-21T10:60:00Z'],
    ['with a second 61', '2016-12-31T23:59:61Z'],
    ['with an offset of 24 hours', '2026-11-21T10:15:30+24:00'],
    ['with an offset of 60 minutes', '2026-11-21T10:15:30+01:60'],
    ['with an offset that ends in a colon', '2026-11-21T10:15:30+05:'],
    ['with an offset and a Z', '2026-11-21T10:15:30Z+01:00'],
    ['with a point but no digits', '2026-11-21T10:15:30.Z'],
    ['with a zone by name', '2026-11-21T10:15:30 UTC'],
    ['with the name of another zone alone', '2026-11-21T10:15:30[Europe/Paris]'],
    ['without minutes', '2026-11-21T10Z'],
    ['half basic, half extended', '20261121T10:1530Z'],
    ['longer than any', `2026-11-21T10:15:30.${'0'.repeat(60)}Z`],
    ['with a space before', ' 2026-11-21T10:15:30Z'],
    ['with a line end after', '2026-11-21T10:15:30Z\n'],
    ['with full-width digits', '２０２６-11-21T10:15:30Z'],
    ['with one-digit parts', '2026-1-1T1:1:1Z'],
    ['without a time of day', '2026-11-21'],
    ['in seconds since 1970', '1795256130'],
    ['in another order', '21/11/2026 10:15:30'],
    ['of nothing', ''],
  ])('refuses a time %s', (_name, text) => {
    expect(parseTime(text)).toBeNull();
  });

  it('judges the usual form as it does one that it reads by the grammar', () => {
    const nearUsual = fc
      .tuple(
        instant,
        fc.constantFrom(20, 24, 27),
        fc.nat(26),
        fc.constantFrom('', ':', '/', '9', '3', ' ', '\n'),
      )
      .map(([micros, length, at, mark]) => {
        const usual = `${formatTime(micros).slice(0, length - 1)}Z`.replace('.Z', 'Z');
        return mark === '' ? usual : usual.slice(0, at) + mark + usual.slice(at + 1);
      });
    fc.assert(
      fc.property(nearUsual, (text) => {
        // A small z is as good, and not usual.
        expect(parseTime(text)).toBe(parseTime(text.replace('Z', 'z')));
      }),
      { numRuns: 10_000 },
    );
  });

  it('gives a value for any text', () => {
    const nearTime = fc
      .tuple(instant, fc.nat(27), fc.string({ maxLength: 3 }))
      .map(([micros, at, text]) => formatTime(micros).slice(0, at) + text + formatTime(micros).slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearTime), (text) => {
        const micros = parseTime(text);
        expect(micros === null || (Number.isSafeInteger(micros) && micros >= FIRST && micros <= LAST)).toBe(
          true,
        );
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("the clock of a gateway's own zone", () => {
  it.each([
    ['2026-11-25T11:00:00Z', 'Asia/Shanghai', '2026-11-25T03:00:00.000000Z'],
    ['2026-11-25T11:00:00.123456', 'Asia/Shanghai', '2026-11-25T03:00:00.123456Z'],
    ['20261125T110000Z', 'Asia/Shanghai', '2026-11-25T03:00:00.000000Z'],
    ['2026-07-01T12:00:00Z', 'America/New_York', '2026-07-01T16:00:00.000000Z'],
    // What names an offset is what it says.
    ['2026-11-25T11:00:00+08:00', 'Europe/Berlin', '2026-11-25T03:00:00.000000Z'],
    ['2026-11-25T11:00:00-0500[America/New_York]', 'Europe/Berlin', '2026-11-25T16:00:00.000000Z'],
  ])('%s of %s is %s', (text, zone, read) => {
    expect(formatTime(parseLocalTime(text, zone) ?? 0)).toBe(read);
  });

  it('keeps the order of what does not fall into a change of the clocks, and gives each text one instant', () => {
    for (const hour of ['01:30', '02:30', '03:30']) {
      for (const day of ['2026-03-29', '2026-10-25']) {
        const one = parseLocalTime(`${day}T${hour}:00Z`, 'Europe/Berlin');
        expect(one).toBe(parseLocalTime(`${day}T${hour}:00`, 'Europe/Berlin'));
        const utc = parseTime(`${day}T${hour}:00Z`) ?? 0;
        expect(Math.abs((one ?? 0) - utc)).toBeLessThanOrEqual(2 * 3600e6);
      }
    }
  });
});
