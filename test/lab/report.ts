import { type Chart, drawChart } from './charts.ts';
import type { Comparison } from './equality.ts';
import { type Aim, aimsOf, FORMS, type FormFigures, share, type VolumeFigures } from './figures.ts';
import type { RuleSet } from './months.ts';
import { WITHOUT_TWIN } from './twins.ts';

export interface LabReport {
  readonly seed: string;
  readonly volumes: readonly VolumeFigures[];
  readonly comparisons: readonly Comparison[];
}

const NAMES: Readonly<Record<RuleSet, string>> = {
  ours: 'ours',
  static: 'static 5 %',
  sigma: 'mean + 3 sigma',
};
const COPIED = ['static', 'sigma'] as const;

/** Files of the report, by name. */
export function reportFiles(report: LabReport): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, chart] of Object.entries(charts(report.volumes)))
    files.set(`lab-${name}.svg`, drawChart(chart));
  files.set('lab-report.json', `${JSON.stringify(asJson(report), null, 1)}\n`);
  files.set('lab-report.md', markdown(report));
  return files;
}

export function asJson({ seed, volumes, comparisons }: LabReport): object {
  const differing = comparisons.filter(({ equal }) => !equal);
  return {
    seed,
    aims: aimsOf(volumes),
    comparisonsWithTheEngine: { compared: comparisons.length, differing },
    volumes,
  };
}

function charts(volumes: readonly VolumeFigures[]): Record<string, Chart> {
  const labels = volumes.map(({ ordersPerMinute }) => String(ordersPerMinute));
  const xTitle = 'orders a minute';
  const by = (value: (volume: VolumeFigures, set: RuleSet) => number | null) =>
    (['ours', ...COPIED] as const).map((set) => ({
      name: NAMES[set],
      colour: set,
      values: volumes.map((volume) => value(volume, set)),
    }));
  const aim = (name: string, values: readonly (number | null)[]) =>
    ({ name, colour: 'aim', dashed: true, values }) as const;
  return {
    'false-pages': {
      title: 'False pages of critical rules a month',
      unit: '',
      labels,
      xTitle,
      log: true,
      series: [
        ...by((volume, set) => volume.sets[set].falsePagesPerMonth.critical),
        aim(
          'aim: at most 1',
          labels.map(() => 1),
        ),
      ],
    },
    found: {
      title: 'Severe and medium incidents found',
      unit: ' %',
      labels,
      xTitle,
      log: false,
      top: 100,
      series: by((volume, set) => {
        const { severe, medium } = volume.sets[set].forms;
        return 100 * share(severe.detected + medium.detected, severe.incidents + medium.incidents);
      }),
    },
    'time-to-detect': {
      title: 'Minutes to detect, median',
      unit: '',
      labels,
      xTitle,
      log: true,
      series: [
        {
          name: 'severe',
          colour: 'ours',
          values: volumes.map((one) => one.sets.ours.forms.severe.medianToDetect),
        },
        {
          name: 'medium',
          colour: 'sigma',
          values: volumes.map((one) => one.sets.ours.forms.medium.medianToDetect),
        },
        {
          name: 'mild',
          colour: 'static',
          values: volumes.map((one) => one.sets.ours.forms.mild.medianToDetect),
        },
        aim(
          'allowed, severe',
          volumes.map((one) => one.severeAllowed),
        ),
      ],
    },
  };
}

function markdown({ seed, volumes, comparisons }: LabReport): string {
  const aims = aimsOf(volumes);
  const differing = comparisons.filter(({ equal }) => !equal).length;
  return `# Incident lab

Written by \`npm run lab\` (seed \`${seed}\`); the figures are in [lab-report.json](lab-report.json). Synthetic months of traffic with daily and
weekly seasons, holidays, campaigns, noise, hiccups of a minute or two and late arrivals, at five volumes, with labelled incidents of
every kind that the rules cover. Failures: severe = the failing share rises by 50 points, medium = by 15, mild = by 5. Drops: severe =
90 % of the traffic gone, medium = 50 %. Rules do not distinguish channels: half of the orders of one channel of ten are a mild incident.

The rules judge every minute by the code of the product, over counts by minute. That these counts are the rules' is shown, not believed: what a
rule counts is asked from its own SQL on the real engine, and at sampled instants the orders were laid down as rows and the pass of the product
evaluated over them: **${comparisons.length} numbers compared, ${differing} differ** (baselines are sketches, right to 1.6 %; numbers that follow from them were
given 6 %).

A *false page* begins while nothing is wrong that the rule could mean. Time to detect counts from the first minute of the incident; for orders stuck
in processing (30 minutes) and missing merchant callbacks (10 minutes), from when the first order is that. *Copied rules* watch the same counts every
minute: a share above 5 % over 5 minutes (and no order for 5 minutes), and mean plus (traffic: minus) three standard deviations of the week before.

## Aims

${table(
  ['aim', 'measured', ''],
  aims.map(({ aim, measured, met }: Aim) => [aim, measured, met ? 'met' : '**missed**']),
)}

![False pages](lab-false-pages.svg)

![Found](lab-found.svg)

![Time to detect](lab-time-to-detect.svg)

## Ours and the copied rules

${volumes.map(volumeTable).join('\n\n')}

## Ours, by kind of incident

Found / incidents, and the median minutes to detect, at ${volumes.map(({ ordersPerMinute }) => ordersPerMinute).join(' · ')} orders a minute.

${kindTable(volumes)}

## What it does not show

- ${WITHOUT_TWIN.join(', ')}: what it counts depends on later reads of each order, which counts by minute do not have. Its scenarios are tests.
- Incidents come one at a time, at random hours; orders of a minute are independent of one another.
- The volumes are what they are on average: nights have a sixth of the traffic of evenings. A gateway of 20 orders a minute has four of them
  then, and a quarter of an hour brings nine affected orders of a medium incident: too few to distinguish it from chance every time. Incidents
  that begin while at least 20 orders a minute come have a line of their own.
- Half of the traffic gone is distinguished from what campaigns, weather and holidays do to it by the hour before, as long as that is no lower
  itself. Afterwards other weeks alone say it: on a day that has more than usual a page may end while traffic is still halved.
- Items that repeat late what an order has met before have no place in counts by minute. A test lays a calm evening with such items down as
  rows, and the pass of the product raises no alert.
- Windows and hiccups lie on whole minutes here. That a stutter of two minutes wakes nobody however the evaluations lie is shown by a test.
- The rules were tuned on months of this seed. [Another seed](lab-other-seed.md) gives other months: \`npm run lab -- --seed TEXT --out FOLDER\`.
`;
}

function volumeTable(volume: VolumeFigures): string {
  const rows = (['ours', ...COPIED] as const).map((set) => {
    const figures = volume.sets[set];
    const cells = FORMS.flatMap((form) => formCells(figures.forms[form]));
    const { critical, all } = figures.falsePagesPerMonth;
    return [NAMES[set]].concat(cells, String(critical), String(all));
  });
  const heads = FORMS.flatMap((form) => [form, 'detect', 'resolve']);
  return `**${volume.ordersPerMinute} orders a minute**: ${volume.orders.toLocaleString('en-US')} orders in ${volume.weeks} weeks, ${volume.incidents} incidents, ${volume.quietMonths} months without any.

${table(['rules', ...heads, 'false, critical', 'false, all'], rows)}`;
}

const formCells = (one: FormFigures): string[] => [
  `${one.detected}/${one.incidents}`,
  one.medianToDetect === null ? '-' : `${one.medianToDetect}`,
  one.medianToResolve === null ? '-' : `${one.medianToResolve}`,
];

function kindTable(volumes: readonly VolumeFigures[]): string {
  const kinds = [...new Set(volumes.flatMap((volume) => volume.kinds.map(({ kind }) => kind)))].toSorted();
  const cell = (volume: VolumeFigures, kind: string, form: (typeof FORMS)[number]): string => {
    const figures = volume.kinds.find((one) => one.kind === kind)?.forms[form];
    return figures === undefined
      ? '-'
      : `${figures.detected}/${figures.incidents} ${figures.medianToDetect ?? ''}`.trim();
  };
  const rows = kinds.map((kind) =>
    [kind].concat(FORMS.map((form) => volumes.map((volume) => cell(volume, kind, form)).join(' · '))),
  );
  return table(['kind', ...FORMS], rows);
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The aims for a terminal. */
export const aimLines = (volumes: readonly VolumeFigures[]): string =>
  aimsOf(volumes)
    .map(({ aim, measured, met }) => `${met ? 'met   ' : 'MISSED'}  ${aim}: ${measured}`)
    .join('\n');
