import type { Detection } from './score.ts';
import type { Form } from './incidents.ts';
import { type RuleSet, SETS, type VolumeScore } from './months.ts';

/**
 * The figures of a report, all of them taken from the scores. Times in minutes, null where there is nothing
 * to show.
 */
export interface FormFigures {
  readonly incidents: number;
  readonly detected: number;
  readonly within15: number;
  readonly medianToDetect: number | null;
  readonly p90ToDetect: number | null;
  readonly medianToResolve: number | null;
}

export interface SetFigures {
  readonly forms: Readonly<Record<Form, FormFigures>>;
  /** Of the severe incidents: the median of time to detect over what is allowed. 1 and less is in time. */
  readonly severeTimeOverAllowed: number | null;
  readonly falsePagesPerMonth: { readonly critical: number; readonly all: number };
  readonly falsePagesByRule: Readonly<Record<string, number>>;
  readonly sidePages: number;
  /** Medium incidents that began while at least twenty orders a minute came. */
  readonly mediumWhileBusy: FormFigures;
}

export interface VolumeFigures {
  readonly ordersPerMinute: number;
  readonly orders: number;
  readonly weeks: number;
  readonly quietMonths: number;
  readonly incidents: number;
  /** Median over the severe incidents of what is allowed to detect them, in minutes. */
  readonly severeAllowed: number | null;
  readonly sets: Readonly<Record<RuleSet, SetFigures>>;
  /** Ours, by kind of incident. */
  readonly kinds: readonly KindFigures[];
}

export interface KindFigures {
  readonly kind: string;
  readonly forms: Readonly<Partial<Record<Form, FormFigures>>>;
  /** Who noticed first, and how often. */
  readonly by: Readonly<Record<string, number>>;
}

export interface Aim {
  readonly aim: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Orders a minute from which medium incidents are to be found within a quarter of an hour. */
const BUSY = 20;

export const FORMS: readonly Form[] = ['severe', 'medium', 'mild'];

/**
 * Minutes in which a severe incident is to be detected: four, or until twelve orders are expected to be
 * affected.
 */
export const allowed = ({ incident }: Detection): number => Math.max(4, incident.twelveAffected ?? 4);

export function figuresOf(score: VolumeScore): VolumeFigures {
  const { sets, quietMonths } = score;
  const severe = sets.ours.detections.filter(({ incident }) => incident.form === 'severe');
  return {
    ordersPerMinute: score.ordersPerMinute,
    orders: score.orders,
    weeks: score.weeks,
    quietMonths: round(quietMonths),
    incidents: score.incidents.length,
    severeAllowed: median(severe.map(allowed)),
    sets: Object.fromEntries(SETS.map((set) => [set, setFigures(score, set)])) as Record<RuleSet, SetFigures>,
    kinds: [...new Set(score.incidents.map(({ kind }) => kind.name))].toSorted().map((kind) => {
      const own = sets.ours.detections.filter(({ incident }) => incident.kind.name === kind);
      const by: Record<string, number> = {};
      for (const detection of own) if (detection.by !== null) by[detection.by] = (by[detection.by] ?? 0) + 1;
      const forms = FORMS.filter((form) => own.some(({ incident }) => incident.form === form));
      return { kind, by, forms: Object.fromEntries(forms.map((form) => [form, formFigures(own, form)])) };
    }),
  };
}

function setFigures({ sets, quietMonths }: VolumeScore, set: RuleSet): SetFigures {
  const { detections, falsePages, sidePages } = sets[set];
  const pages = (some: typeof falsePages): number => some.reduce((sum, { count }) => sum + count, 0);
  const overAllowed = detections.flatMap((detection) =>
    detection.incident.form === 'severe' && detection.detectedAfter !== null
      ? [detection.detectedAfter / allowed(detection)]
      : [],
  );
  return {
    forms: Object.fromEntries(FORMS.map((form) => [form, formFigures(detections, form)])) as Record<
      Form,
      FormFigures
    >,
    severeTimeOverAllowed: median(overAllowed),
    falsePagesPerMonth: {
      critical: round(pages(falsePages.filter(({ severity }) => severity === 'critical')) / quietMonths),
      all: round(pages(falsePages) / quietMonths),
    },
    falsePagesByRule: Object.fromEntries(
      falsePages.filter(({ count }) => count > 0).map(({ rule, count }) => [rule, count]),
    ),
    sidePages,
    mediumWhileBusy: formFigures(
      detections.filter(({ incident }) => incident.ordersPerMinute >= BUSY),
      'medium',
    ),
  };
}

function formFigures(detections: readonly Detection[], form: Form): FormFigures {
  const own = detections.filter(({ incident }) => incident.form === form);
  const times = own.flatMap(({ detectedAfter }) => (detectedAfter === null ? [] : [detectedAfter]));
  const resolves = own.flatMap(({ resolvedAfter }) => (resolvedAfter === null ? [] : [resolvedAfter]));
  return {
    incidents: own.length,
    detected: times.length,
    within15: times.filter((minutes) => minutes <= 15).length,
    medianToDetect: median(times),
    p90ToDetect: quantile(times, 0.9),
    medianToResolve: median(resolves),
  };
}

/** What the rules are meant to reach, and what was measured. */
export function aimsOf(volumes: readonly VolumeFigures[]): Aim[] {
  return volumes.flatMap((volume) => {
    const { ours, static: fixed, sigma } = volume.sets;
    const { severe, medium } = ours.forms;
    const busy = ours.mediumWhileBusy;
    const at = `${volume.ordersPerMinute} orders a minute`;
    const found = (set: SetFigures): number =>
      share(
        set.forms.severe.detected + set.forms.medium.detected,
        set.forms.severe.incidents + set.forms.medium.incidents,
      );
    const pages = (set: SetFigures): number => set.falsePagesPerMonth.critical;
    return [
      {
        aim: `${at}: every severe incident is detected`,
        measured: `${severe.detected} of ${severe.incidents}`,
        met: severe.detected === severe.incidents,
      },
      {
        aim: `${at}: the median severe incident within 4 minutes, or within the time of 12 affected orders`,
        measured: `median ${severe.medianToDetect ?? '-'} minutes, ${percent(ours.severeTimeOverAllowed ?? 0)} of what is allowed`,
        met: (ours.severeTimeOverAllowed ?? 9) <= 1,
      },
      ...(volume.ordersPerMinute >= BUSY
        ? [
            {
              aim: `${at}: 95 % of the medium incidents within 15 minutes, at all hours`,
              measured: `${medium.within15} of ${medium.incidents} (${percent(share(medium.within15, medium.incidents))})`,
              met: share(medium.within15, medium.incidents) >= 0.95,
            },
            {
              aim: `${at}: the same of those that begin while at least ${BUSY} orders a minute come`,
              measured: `${busy.within15} of ${busy.incidents} (${percent(share(busy.within15, busy.incidents))})`,
              met: share(busy.within15, busy.incidents) >= 0.95,
            },
          ]
        : []),
      {
        aim: `${at}: at most one false page a month over all critical rules`,
        measured: `${pages(ours)} a month`,
        met: pages(ours) <= 1,
      },
      {
        aim: `${at}: more severe and medium incidents found than either copied rule, with fewer false pages`,
        measured:
          `found ${percent(found(ours))}, static ${percent(found(fixed))}, three sigma ${percent(found(sigma))}; ` +
          `critical false pages a month ${pages(ours)}, ${pages(fixed)}, ${pages(sigma)}`,
        met:
          found(ours) > Math.max(found(fixed), found(sigma)) &&
          pages(ours) < Math.min(pages(fixed), pages(sigma)),
      },
    ];
  });
}

export const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
export const percent = (value: number): string => `${(value * 100).toFixed(value >= 0.9995 ? 0 : 1)} %`;
const round = (value: number): number => Number(value.toFixed(2));

export function quantile(values: readonly number[], level: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(level * sorted.length))] ?? null;
}
export const median = (values: readonly number[]): number | null => {
  const value = quantile(values, 0.5);
  return value === null ? null : round(value);
};
