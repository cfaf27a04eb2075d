import type { Sort } from './incidents.ts';
import type { Form } from './kinds.ts';
import type { Run } from './runs.ts';
import type { Detection } from './score.ts';

/**
 * The figures of a report, all of them taken from the scores. Times in minutes, null where there is nothing
 * to show.
 */
export interface Found {
  readonly incidents: number;
  readonly detected: number;
  readonly within15: number;
  readonly medianToDetect: number | null;
  readonly medianToResolve: number | null;
}

/** What was found at one volume, over all its gateways. */
export interface VolumeFigures {
  readonly ordersPerMinute: number;
  readonly orders: number;
  readonly weeks: number;
  readonly quietMonths: number;
  /** By what a score is about and form, e.g. `slice severe`. */
  readonly sorts: Readonly<Record<string, Found>>;
  /** Of the gateway as a whole, by kind and form, e.g. `create timeouts severe`. */
  readonly kinds: Readonly<Record<string, Found>>;
  /** What the aims are about. */
  readonly severe: Found;
  readonly severeWhileBusy: Found;
  readonly severeSlices: Found;
  readonly mediumWhileBusy: Found;
  readonly threeTimesSlower: Found;
  readonly named: { readonly right: number; readonly explained: number };
  readonly falsePagesPerMonth: { readonly critical: number; readonly all: number };
  /** A month, by severity and occasion, e.g. `critical campaign`. */
  readonly falsePagesByOccasion: Readonly<Record<string, number>>;
  /** A month, by severity and rule. */
  readonly falsePagesByRule: Readonly<Record<string, number>>;
}

/** Orders of the gateway a minute from which incidents are to be found within minutes. */
export const BUSY = 20;
/** Share of the traffic from which a slice's incidents are. */
const LARGE_SLICE = 0.1;
export const FORMS: readonly Form[] = ['severe', 'medium', 'mild'];

export function figuresOf(runs: readonly Run[]): VolumeFigures {
  const all = runs.flatMap(({ detections }) => detections);
  const sum = (of: (run: Run) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const quietMonths = sum((run) => run.quietMonths);
  const some = (test: (detection: Detection) => boolean): Found => foundIn(all.filter(test));
  const severe = isOf(['whole', 'down for an hour'], 'severe');
  const explained = all.filter(
    ({ incident, detectedAfter }) =>
      incident.explanations.length > 0 && incident.form !== 'mild' && detectedAfter !== null,
  );
  return {
    ordersPerMinute: runs[0]?.ordersPerMinute ?? 0,
    orders: sum(({ orders }) => orders),
    weeks: sum(({ weeks }) => weeks),
    quietMonths: round(quietMonths),
    sorts: grouped(all, ({ incident: { sort, form } }) => `${sort} ${form}`),
    kinds: grouped(
      all.filter(({ incident: { sort } }) => sort === 'whole'),
      ({ incident: { kind, form } }) => `${kind.name} ${form}`,
    ),
    severe: some(severe),
    severeWhileBusy: some((one) => severe(one) && isBusy(one)),
    severeSlices: some(
      (one) =>
        isOf(['slice', 'half of all withdrawals'], 'severe')(one) &&
        one.incident.slice.share >= LARGE_SLICE &&
        isBusy(one),
    ),
    mediumWhileBusy: some((one) => isOf(['whole'], 'medium')(one) && isBusy(one)),
    threeTimesSlower: some((one) => isOf(['slow-down'], 'medium')(one) && isBusy(one)),
    named: {
      right: explained.filter(({ incident, named }) => incident.explanations.includes(named ?? '')).length,
      explained: explained.length,
    },
    falsePagesPerMonth: {
      critical: round(pagesIn(runs, (severity) => severity === 'critical') / quietMonths),
      all: round(pagesIn(runs, () => true) / quietMonths),
    },
    falsePagesByOccasion: pagesBy(runs, quietMonths, ({ severity, occasion }) => `${severity} ${occasion}`),
    falsePagesByRule: pagesBy(runs, quietMonths, ({ severity, rule }) => `${severity} ${rule}`),
  };
}

const isBusy = ({ incident }: Detection): boolean => incident.ordersPerMinute >= BUSY;

const isOf =
  (sorts: readonly Sort[], form: Form) =>
  ({ incident }: Detection): boolean =>
    sorts.includes(incident.sort) && incident.form === form;

function foundIn(detections: readonly Detection[]): Found {
  const times = detections.flatMap(({ detectedAfter }) => detectedAfter ?? []);
  return {
    incidents: detections.length,
    detected: times.length,
    within15: times.filter((minutes) => minutes <= 15).length,
    medianToDetect: median(times),
    medianToResolve: median(detections.flatMap(({ resolvedAfter }) => resolvedAfter ?? [])),
  };
}

const grouped = (
  detections: readonly Detection[],
  keyOf: (detection: Detection) => string,
): Record<string, Found> =>
  Object.fromEntries(
    [...Map.groupBy(detections, keyOf)]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([key, own]) => [key, foundIn(own)]),
  );

type FalsePages = Run['falsePages'][number];

const pagesIn = (runs: readonly Run[], isCounted: (severity: string) => boolean): number =>
  runs
    .flatMap(({ falsePages }) => falsePages)
    .reduce((sum, { severity, count }) => sum + (isCounted(severity) ? count : 0), 0);

function pagesBy(
  runs: readonly Run[],
  months: number,
  keyOf: (pages: FalsePages) => string,
): Record<string, number> {
  const out = new Map<string, number>();
  for (const pages of runs.flatMap(({ falsePages }) => falsePages))
    out.set(keyOf(pages), (out.get(keyOf(pages)) ?? 0) + pages.count);
  const most = [...out].toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(most.map(([key, count]) => [key, round(count / months)]));
}

export const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
export const percent = (value: number): string => `${(value * 100).toFixed(value >= 0.9995 ? 0 : 1)} %`;
const round = (value: number): number => Number(value.toFixed(2));

export function median(values: readonly number[]): number | null {
  const value = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  return value === undefined ? null : round(value);
}
