/** A quantity as text, in the parts that Grafana styles apart. */
export interface Formatted {
  readonly text: string;
  /** With its leading space where there is one. */
  readonly suffix: string;
  readonly prefix?: string;
}

type Formatter = (value: number, decimals: number | null) => Formatted;

/** Decimals that Grafana picks when none are set: enough to distinguish values of this size. */
function autoDecimals(value: number): number {
  if (value === 0 || Number.isInteger(value)) return 0;
  let decimals = -Math.floor(Math.log10(Math.abs(value))) + 1;
  const magnitude = 10 ** -decimals;
  if (Math.abs(value) / magnitude > 2.25) decimals++;
  return Math.min(Math.max(decimals, 0), 12);
}

function fixed(value: number, decimals: number | null): string {
  const text = value.toFixed(Math.min(decimals ?? autoDecimals(value), 20));
  // A rounded -0.0 is shown as 0.0.
  return /^-0(?:\.0*)?$/.test(text) ? text.slice(1) : text;
}

const plain =
  (suffix = '', scale = 1): Formatter =>
  (value, decimals) => ({ text: fixed(value * scale, decimals), suffix });

/** 1234 -> `1.23 K`: divides by `factor` until the value is below it. */
function scaled(factor: number, steps: readonly string[], start = 0): Formatter {
  return (value, decimals) => {
    let step = start;
    let rest = value;
    while (Math.abs(rest) >= factor && step < steps.length - 1) {
      rest /= factor;
      step++;
    }
    // Decimals are for values that were scaled; whole numbers below the first step stay whole.
    const shown = step === start && Number.isInteger(value) ? (decimals ?? 0) : decimals;
    return { text: fixed(rest, shown), suffix: steps[step] ?? '' };
  };
}

const SHORT = ['', ' K', ' Mil', ' Bil', ' Tri', ' Quadr'];
const counted = (name: string): Formatter =>
  scaled(
    1000,
    ['', 'K', 'M', 'B', 'T'].map((step) => `${step} ${name}`),
  );
const binary = (name: string): Formatter =>
  scaled(1024, [` ${name}`, ...['K', 'M', 'G', 'T', 'P'].map((step) => ` ${step}i${name}`)]);
const decimal = (name: string): Formatter =>
  scaled(1000, [` ${name}`, ...['k', 'M', 'G', 'T', 'P'].map((step) => ` ${step}${name}`)]);

/** Ladders of time: from how many seconds on, how many seconds one is, name. */
const TIMES = [
  [31_536_000, 31_536_000, ' years'],
  [604_800, 604_800, ' weeks'],
  [86_400, 86_400, ' days'],
  [3_600, 3_600, ' hours'],
  [60, 60, ' mins'],
  [1, 1, ' s'],
  [1e-3, 1e-3, ' ms'],
  [1e-6, 1e-6, ' µs'],
  [0, 1e-9, ' ns'],
] as const;

function duration(unitSeconds: number, name: string): Formatter {
  return (value, decimals) => {
    if (value === 0) return { text: '0', suffix: ` ${name}` };
    // Only seconds are ever shown in smaller steps than their own.
    const least = name === 's' ? 0 : unitSeconds;
    const seconds = Math.max(Math.abs(value) * unitSeconds, least);
    // A value just below a step counts as that step, so that rounding never gives `60 s`.
    const [, one, suffix] = TIMES.find(([from]) => seconds >= from * (1 - 1e-9)) ?? [0, 1, ' s'];
    const amount = (value * unitSeconds) / one;
    // A step larger than the unit's own shows a decimal; the configured decimals are for the unit's own step.
    const text = fixed(amount, one > unitSeconds ? Math.max(decimals ?? 1, 1) : decimals).replace(
      /\.0+$/,
      '',
    );
    return { text, suffix: text === '1' && one >= 60 ? suffix.slice(0, -1) : suffix };
  };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-21 10:15:30`, UTC. */
export function isoTime(ms: number, withDate = true): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return '';
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return withDate ? `${date.toISOString().slice(0, 10)} ${time}` : time;
}

const FORMATTERS: Readonly<Record<string, Formatter>> = {
  none: plain(),
  string: plain(),
  sishort: scaled(1000, ['', ' K', ' M', ' G', ' T']),
  short: scaled(1000, SHORT),
  locale: (value, decimals) => ({
    text: value.toLocaleString('en-GB', { maximumFractionDigits: decimals ?? 3 }),
    suffix: '',
  }),
  percent: plain('%'),
  percentunit: plain('%', 100),
  s: duration(1, 's'),
  ms: duration(1e-3, 'ms'),
  µs: duration(1e-6, 'µs'),
  ns: duration(1e-9, 'ns'),
  m: duration(60, 'min'),
  h: duration(3600, 'hour'),
  d: duration(86_400, 'day'),
  bytes: binary('B'),
  decbytes: decimal('B'),
  bits: binary('b'),
  decbits: decimal('b'),
  binBps: binary('B/s'),
  Bps: decimal('B/s'),
  cps: counted('c/s'),
  ops: counted('ops/s'),
  reqps: counted('req/s'),
  rps: counted('rd/s'),
  wps: counted('wr/s'),
  iops: counted('io/s'),
  eps: counted('evt/s'),
  mps: counted('msg/s'),
  recps: counted('rec/s'),
  rowsps: counted('rows/s'),
  cpm: counted('c/m'),
  opm: counted('ops/m'),
  reqpm: counted('req/m'),
  rpm: counted('rd/m'),
  wpm: counted('wr/m'),
  epm: counted('evts/m'),
  dateTimeAsIso: (value) => ({ text: isoTime(value), suffix: '' }),
  dateTimeAsIsoNoDateIfToday: (value) => ({ text: isoTime(value), suffix: '' }),
  dateTimeAsSystem: (value) => ({ text: isoTime(value), suffix: '' }),
  bool: (value) => ({ text: value === 0 ? 'False' : 'True', suffix: '' }),
  bool_yes_no: (value) => ({ text: value === 0 ? 'No' : 'Yes', suffix: '' }),
  bool_on_off: (value) => ({ text: value === 0 ? 'Off' : 'On', suffix: '' }),
};

/** A number in a unit of Grafana's. Unknown units follow the number, as there. */
export function formatNumber(value: number, unit = 'none', decimals: number | null = null): Formatted {
  const known = Object.hasOwn(FORMATTERS, unit) ? FORMATTERS[unit] : undefined;
  if (known !== undefined) return known(value, decimals);
  const [, kind, rest] = /^(suffix|prefix|currency|short):(.*)$/.exec(unit) ?? [];
  if (kind === 'prefix' || kind === 'currency')
    return { text: fixed(value, decimals), suffix: '', prefix: rest ?? '' };
  if (unit === '') return plain()(value, decimals);
  return { text: fixed(value, decimals), suffix: ` ${rest ?? unit}` };
}

/** Is a value in this unit an instant? */
export const isTimeUnit = (unit: string | undefined): boolean => unit?.startsWith('dateTime') ?? false;

export const plainText = ({ prefix = '', text, suffix }: Formatted): string => `${prefix}${text}${suffix}`;
