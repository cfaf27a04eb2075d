import { type Aim, aimsOf } from './aims.ts';
import type { Comparison } from './equality.ts';
import { type Found, FORMS, percent, type VolumeFigures } from './figures.ts';
import { SORTS } from './incidents.ts';
import { KINDS } from './kinds.ts';
import type { Run } from './runs.ts';
import { SCORED_WEEKS, SCORED_WEEKS_WHEN_BUSY, type SeedList } from './seeds.ts';
import { WITHOUT_TWIN } from './twins.ts';

export interface LabReport {
  readonly list: SeedList | 'other';
  readonly seeds: readonly string[];
  readonly runs: readonly Run[];
  readonly volumes: readonly VolumeFigures[];
  readonly comparisons: readonly Comparison[];
  readonly wholeOnly: boolean;
}

/** Files of the report, by name. */
export function reportFiles(report: LabReport): Map<string, string> {
  return new Map([
    ['lab-report.json', `${JSON.stringify(asJson(report), null, 1)}\n`],
    ['lab-report.md', markdown(report)],
  ]);
}

export function asJson({ list, seeds, runs, volumes, comparisons, wholeOnly }: LabReport): object {
  const differing = comparisons.filter(({ equal }) => !equal);
  return {
    seeds: { list, names: seeds },
    wholeOnly,
    aims: aimsOf(volumes),
    comparisonsWithTheEngine: { compared: comparisons.length, differing },
    gateways: runs.map(({ seed, ordersPerMinute, gateway }) => ({ seed, ordersPerMinute, ...gateway })),
    volumes,
  };
}

const NONE: Found = { incidents: 0, detected: 0, within15: 0, medianToDetect: null, medianToResolve: null };

const LISTS: Readonly<Record<LabReport['list'], string>> = {
  reported: 'the reported ones, on which nobody tunes',
  tuned: '**the tuned ones: no aim is reached here, whatever the numbers say**',
  other: 'chosen by hand',
};

function markdown(report: LabReport): string {
  const { list, seeds, runs, volumes, comparisons, wholeOnly } = report;
  const differing = comparisons.filter(({ equal }) => !equal).length;
  return `# Incident lab

Written by \`npm run lab\`. Seeds: ${seeds.map((seed) => `\`${seed}\``).join(', ')} (${LISTS[list]}). The figures are in
[lab-report.json](lab-report.json). Each seed is a gateway of its own: order types, channels and currencies, usual failures from which orders
recover at levels of 0 to 8 %, other failures at levels of its own, noise that the paths of one provider share, drifts over weeks, payers
who try again. Each has a quarter of the year (${SCORED_WEEKS} weeks; at thousands of orders a minute ${SCORED_WEEKS_WHEN_BUSY}), so that four make a year, after five weeks as past.
Incidents befall the gateway as a whole or a slice of it. Failures: severe = the failing share rises by 50 points, medium = by 15, mild =
by 5. Drops: severe = 90 % of the traffic gone, medium = 50 %. Slow-downs: orders take five, three and two times as long for an hour.
Flapping: severe for two minutes out of every twenty. ${wholeOnly ? 'Gateways are judged as wholes only.' : 'Slices are judged as the product judges them.'}

Every gateway also has what must not page: campaigns of five times the traffic, holidays, summer time, a channel that appears once, a
currency that vanishes, levels that a deployment moves, and days without a collector.

The rules judge every minute by the code of the product, over counts by minute. That these counts are the rules' is shown, not believed: what a
rule counts is asked from its own SQL on the real engine, and at sampled instants the orders were laid down as rows and the pass of the product
evaluated over them: **${comparisons.length} numbers compared, ${differing} differ** (baselines are sketches, right to 1.6 %; numbers that follow from them were
given 6 %).

A *false page* begins while nothing is wrong that the rule could mean; slices that page for one symptom at one time are one page. Time to detect counts
from the first minute of the incident; for orders stuck in processing (30 minutes) and missing merchant callbacks (10 minutes), from when the
first order is that. An alert that fires already notifies nobody anew: an incident that begins meanwhile is not found by it.

## Aims

${aimTable(aimsOf(volumes), volumes)}

## What was found

Found / incidents, and the median minutes to detect and to resolve.

${foundTable(volumes)}

## False pages

A month, by severity and by what else there was. What stays, such as a new habit, counts as new for four weeks.

${pageTable(volumes, ({ falsePagesByOccasion }) => falsePagesByOccasion)}

By rule:

${pageTable(volumes, ({ falsePagesByRule }) => falsePagesByRule)}

## By kind of incident

Of the gateway as a whole: found / incidents, and the median minutes to detect, at ${volumes.map(({ ordersPerMinute }) => ordersPerMinute).join(' · ')} orders a minute.

${kindTable(volumes)}

## The gateways

${gatewayTable(runs)}

## What it does not show

- ${WITHOUT_TWIN.join(', ')}: what they count depends on each order or read, which counts by minute do not have. Their scenarios are tests.
- Incidents come one at a time, at random hours, and within a minute orders are independent of one another.
- All items of an order lie within its minute. How many orders are slow is drawn beside the counts, at the usual 95th percentile of each
  segment: a threshold of \`GatewatchSlow\` lies near it, and slices have their own. The rows that are compared with the engine do not have it.
- The volumes are what they are on average: nights have a sixth of the traffic of evenings.
- Items that repeat late what an order has met before have no place in counts by minute. A test lays a calm evening with such items down as
  rows, and the pass of the product raises no alert.
- Windows and hiccups lie on whole minutes here. That a stutter of two minutes wakes nobody however the evaluations lie is shown by a test.
`;
}

const heads = (volumes: readonly VolumeFigures[]): string[] =>
  volumes.map(({ ordersPerMinute }) => `${ordersPerMinute} a minute`);

function aimTable(aims: readonly Aim[], volumes: readonly VolumeFigures[]): string {
  const cell = ({ value, met }: Aim['measured'][number]): string =>
    value === null ? '-' : met ? value : `**${value}**`;
  return table(
    ['aim', ...heads(volumes), ''],
    aims.map(({ aim, measured, met }) => [aim, ...measured.map(cell), met ? 'met' : '**missed**']),
  );
}

function foundTable(volumes: readonly VolumeFigures[]): string {
  const names = SORTS.flatMap((sort) => FORMS.map((form) => `${sort} ${form}`));
  const rows = names.map((name) => {
    const each = volumes.map(({ sorts }) => sorts[name] ?? NONE);
    return [name, ...each.map((one) => foundCell(one, one.medianToResolve))];
  });
  const totals = [
    ['orders', ...volumes.map(({ orders }) => orders.toLocaleString('en-US'))],
    ['weeks', ...volumes.map(({ weeks }) => String(weeks))],
    ['months without any incident', ...volumes.map(({ quietMonths }) => String(quietMonths))],
  ];
  return table(['', ...heads(volumes)], [...rows.filter(hasSome), ...totals]);
}

const hasSome = ([, ...cells]: readonly string[]): boolean => cells.some((cell) => cell !== '-');

function foundCell(
  { incidents, detected, medianToDetect }: Found,
  ...more: readonly (number | null)[]
): string {
  if (incidents === 0) return '-';
  return [`${detected}/${incidents}`, ...[medianToDetect, ...more].map((one) => one ?? '')].join(' ').trim();
}

function pageTable(
  volumes: readonly VolumeFigures[],
  of: (volume: VolumeFigures) => Readonly<Record<string, number>>,
): string {
  const names = [...new Set(volumes.flatMap((volume) => Object.keys(of(volume))))].toSorted();
  return table(
    ['', ...heads(volumes)],
    names.map((name) => [name, ...volumes.map((volume) => String(of(volume)[name] ?? '-'))]),
  );
}

function kindTable(volumes: readonly VolumeFigures[]): string {
  const rows = KINDS.map(({ name }) => name)
    .toSorted()
    .map((name) => [
      name,
      ...FORMS.map((form) =>
        volumes.map(({ kinds }) => foundCell(kinds[`${name} ${form}`] ?? NONE)).join(' · '),
      ),
    ]);
  return table(['kind', ...FORMS], rows);
}

function gatewayTable(runs: readonly Run[]): string {
  const sorted = runs.toSorted((a, b) => a.ordersPerMinute - b.ordersPerMinute);
  return table(
    ['orders a minute', 'seed', 'segments', 'channels', 'currencies', 'orders that recover', 'that fail'],
    sorted.map(({ seed, ordersPerMinute, gateway }) =>
      [ordersPerMinute, seed, gateway.segments, gateway.channels, gateway.currencies]
        .map(String)
        .concat(percent(gateway.recovering), percent(gateway.failing)),
    ),
  );
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
