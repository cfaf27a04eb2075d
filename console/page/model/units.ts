/** A quantity as text, in the parts that Grafana styles apart. */
export interface Formatted {
  readonly text: string;
  /** With its leading space where there is one. */
  readonly suffix: string;
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

const plain: Formatter = (value, decimals) => ({ text: fixed(value, decimals), suffix: '' });

/** 1234 -> `1.23 K`: divides by `factor` until the value is below it. */
function scaled(factor: number, steps: readonly string[]): Formatter {
  return (value, decimals) => {
    let step = 0;
    let rest = value;
    while (Math.abs(rest) >= factor && step < steps.length - 1) {
      rest /= factor;
      step++;
    }
    // Decimals are for values that were scaled; whole numbers below the first step stay whole.
    const shown = step === 0 && Number.isInteger(value) ? (decimals ?? 0) : decimals;
    return { text: fixed(rest, shown), suffix: steps[step] ?? '' };
  };
}

const counted = (name: string): Formatter =>
  scaled(
    1000,
    ['', 'K', 'M', 'B', 'T'].map((step) => `${step} ${name}`),
  );
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
  none: plain,
  string: plain,
  short: scaled(1000, ['', ' K', ' Mil', ' Bil', ' Tri', ' Quadr']),
  locale: (value, decimals) => ({
    text: value.toLocaleString('en-GB', { maximumFractionDigits: decimals ?? 3 }),
    suffix: '',
  }),
  percentunit: (value, decimals) => ({ text: fixed(value * 100, decimals), suffix: '%' }),
  s: duration(1, 's'),
  ms: duration(1e-3, 'ms'),
  bytes: scaled(1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']),
  opm: counted('ops/m'),
  reqps: counted('req/s'),
  reqpm: counted('req/m'),
  dateTimeAsIso: (value) => ({ text: isoTime(value), suffix: '' }),
};

/** The units of Grafana that our dashboards use. */
export const UNITS: readonly string[] = Object.keys(FORMATTERS);

/** A number in a unit of Grafana's. Unknown units follow the number, as there. */
export function formatNumber(value: number, unit = 'none', decimals: number | null = null): Formatted {
  const known = Object.hasOwn(FORMATTERS, unit) ? FORMATTERS[unit] : undefined;
  if (known !== undefined) return known(value, decimals);
  return { text: fixed(value, decimals), suffix: ` ${unit}` };
}

/** Is a value in this unit an instant? */
export const isTimeUnit = (unit: string | undefined): boolean => unit === 'dateTimeAsIso';

export const plainText = ({ text, suffix }: Formatted): string => `${text}${suffix}`;
