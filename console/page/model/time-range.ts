/** A time range as Grafana writes it: `now-3h`, `now/d`, epoch milliseconds or an ISO time. */
export interface RawRange {
  readonly from: string;
  readonly to: string;
}

export interface TimeRange {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  M: 2_592_000_000,
  y: 31_536_000_000,
};

/**
 * Epoch milliseconds of one end, or null when it is no time. `roundUp`: the end of a range, where `/d` means
 * the day's end.
 */
export function parseTime(text: string, now: number, roundUp = false): number | null {
  const trimmed = text.trim();
  if (/^\d{9,16}$/.test(trimmed)) return Number(trimmed);
  if (trimmed.startsWith('now')) return parseRelative(trimmed.slice(3), now, roundUp);
  // Times without a zone are UTC, as everything here is.
  const iso = trimmed.replace(' ', 'T');
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(iso) || !iso.includes('T') ? iso : `${iso}Z`;
  const ms = /^\d{4}-\d\d/.test(zoned) ? Date.parse(zoned) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

function parseRelative(rest: string, now: number, roundUp: boolean): number | null {
  if (!/^(?:[+-]\d+[smhdwMy]|\/[smhdwMy])*$/.test(rest)) return null;
  let at = now;
  for (const [, sign, amount, unit = '', rounded = ''] of rest.matchAll(
    /([+-])(\d+)([smhdwMy])|\/([smhdwMy])/g,
  )) {
    if (sign !== undefined) at += (sign === '-' ? -1 : 1) * Number(amount) * (UNIT_MS[unit] ?? 0);
    else at = round(at, rounded, roundUp);
  }
  return at;
}

function round(ms: number, unit: string, up: boolean): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const weekday = (date.getUTCDay() + 6) % 7;
  const bounds: Readonly<Record<string, readonly [number, number]>> = {
    w: [Date.UTC(year, month, day - weekday), Date.UTC(year, month, day - weekday + 7)],
    M: [Date.UTC(year, month), Date.UTC(year, month + 1)],
    y: [Date.UTC(year, 0), Date.UTC(year + 1, 0)],
  };
  const step = UNIT_MS[unit] ?? 1;
  const [start, end] = bounds[unit] ?? [Math.floor(ms / step) * step, (Math.floor(ms / step) + 1) * step];
  return up ? end - 1 : start;
}

/** Both ends; null when they are no range. */
export function resolveRange(raw: RawRange, now: number): TimeRange | null {
  const from = parseTime(raw.from, now);
  const to = parseTime(raw.to, now, true);
  return from === null || to === null || from >= to ? null : { from, to };
}

export const QUICK_RANGES: readonly (readonly [text: string, from: string, to: string])[] = [
  ['Last 5 minutes', 'now-5m', 'now'],
  ['Last 15 minutes', 'now-15m', 'now'],
  ['Last 30 minutes', 'now-30m', 'now'],
  ['Last 1 hour', 'now-1h', 'now'],
  ['Last 3 hours', 'now-3h', 'now'],
  ['Last 6 hours', 'now-6h', 'now'],
  ['Last 12 hours', 'now-12h', 'now'],
  ['Last 24 hours', 'now-24h', 'now'],
  ['Last 2 days', 'now-2d', 'now'],
  ['Last 7 days', 'now-7d', 'now'],
  ['Last 30 days', 'now-30d', 'now'],
  ['Today', 'now/d', 'now/d'],
  ['Yesterday', 'now-1d/d', 'now-1d/d'],
];

const NAMES: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  M: 'month',
  y: 'year',
};

/** What the range is called. */
export function describeRange(raw: RawRange, now: number): string {
  const quick = QUICK_RANGES.find(([, from, to]) => from === raw.from && to === raw.to);
  if (quick !== undefined) return quick[0];
  const [, amount, unit = ''] = /^now-(\d+)([smhdwMy])$/.exec(raw.from) ?? [];
  if (raw.to === 'now' && amount !== undefined)
    return `Last ${amount} ${NAMES[unit]}${amount === '1' ? '' : 's'}`;
  const range = resolveRange(raw, now);
  if (range === null) return 'No range';
  const [first, last] = [stamp(range.from), stamp(range.to)];
  // Both ends on one day: the day is written once.
  return `${first} to ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last}`;
}

/** `2026-11-21 10:15:30`, UTC: what the fields of the picker take and show. */
export const stamp = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** Twice the range about its middle, as an absolute range that does not reach past now. */
export function zoomOut({ from, to }: TimeRange, now: number): RawRange {
  const half = (to - from) / 2;
  const end = Math.min(to + half, Math.max(now, to));
  return { from: String(Math.round(from - half - (to + half - end))), to: String(Math.round(end)) };
}

/** The neighbouring range of half the length before or after. */
export function shift({ from, to }: TimeRange, direction: -1 | 1, now: number): RawRange {
  const wanted = ((to - from) / 2) * direction;
  const by = direction === 1 ? Math.min(wanted, Math.max(now - to, 0)) : wanted;
  return { from: String(Math.round(from + by)), to: String(Math.round(to + by)) };
}
