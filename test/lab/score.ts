import { daysOff, type Harmless } from './harmless.ts';
import type { Incident } from './incidents.ts';
import { kindNamed } from './kinds.ts';
import type { Months } from './months.ts';
import type { Page } from './pages.ts';
import type { Slice } from './slices.ts';

/** One rule with one label set for one slice, and when it would have paged. */
export interface Watcher {
  readonly rule: string;
  readonly label: string;
  readonly slice: Slice;
  readonly severity: string;
  /** Longest window in minutes: what it saw of an incident stays in there so long after it. */
  readonly memoryMinutes: number;
  /** Is the rule meant to notice it? */
  readonly covers: (incident: Pick<Incident, 'kind' | 'slice'>) => boolean;
  readonly pages: readonly Page[];
}

export interface Detection {
  readonly incident: Incident;
  /**
   * Minutes from the start, or from when the first order is what the incident is about, to the first page of
   * a rule that covers it; null: nobody noticed.
   */
  readonly detectedAfter: number | null;
  /** The rule that was first. */
  readonly by: string | null;
  /** The slice that this rule names; null where it only says that it is the gateway. */
  readonly named: string | null;
  /** Minutes from the end to the end of the alert that was first; null without one. */
  readonly resolvedAfter: number | null;
}

/** Why a page was needless: what else there was, if anything. */
export type Occasion = Harmless['what'] | 'nothing';

/** Pages of a rule while nothing was wrong that it could mean. */
export interface FalsePages {
  readonly rule: string;
  readonly severity: string;
  readonly occasion: Occasion;
  readonly count: number;
}

const BLIND = ['collector silent', 'gateway does not answer us'] as const;
/** The evaluation about minute m is at its half. */
const EVALUATED_AT = 0.5;
/** After an incident, traffic and shares are given so long to be usual again. */
const SETTLING = 30;

export const detections = (incidents: readonly Incident[], watchers: readonly Watcher[]): Detection[] =>
  incidents.map((incident) => detectionOf(incident, watchers));

function detectionOf(incident: Incident, watchers: readonly Watcher[]): Detection {
  const wait = incident.kind.waitMinutes ?? 0;
  const found = watchers
    .filter(({ covers }) => covers(incident))
    .flatMap(({ pages, rule, slice }) => {
      const page = pages[firstFrom(pages, incident.start)];
      return page === undefined || page.fired > incident.end + wait ? [] : [{ page, rule, slice }];
    })
    .toSorted((a, b) => a.page.fired - b.page.fired);
  const [first] = found;
  if (first === undefined)
    return { incident, detectedAfter: null, by: null, named: null, resolvedAfter: null };
  const { fired, resolved } = first.page;
  return {
    incident,
    detectedAfter: Math.max(0, fired - incident.start - wait) + EVALUATED_AT,
    by: first.rule,
    named: namedSlice(first.rule, found),
    resolvedAfter: resolved === null ? null : Math.max(0, resolved - incident.end - wait + EVALUATED_AT),
  };
}

/**
 * A symptom that breaches in a slice and in the whole is one alert, with the slice as its explanation: the
 * slice in which it breached first.
 */
function namedSlice(
  rule: string,
  found: readonly { readonly rule: string; readonly slice: Slice }[],
): string | null {
  const own = found.find((one) => one.rule === rule && one.slice.name !== '');
  return own === undefined ? null : own.slice.name;
}

/**
 * Pages by rule that began while nothing was wrong: not in an incident nor shortly after it, and not while
 * the rule's window still held one that it covers. Slices that page for the same symptom at the same time are
 * one page.
 */
export function falsePages(months: Months, watchers: readonly Watcher[]): FalsePages[] {
  const out = new Map<string, FalsePages>();
  const symptoms = Map.groupBy(watchers, ({ rule, label }) => `${rule}|${label}`);
  for (const [, [first, ...others]] of symptoms) {
    if (first === undefined) continue;
    const { rule, severity } = first;
    for (const { fired } of together([first, ...others].flatMap(({ pages }) => pages))) {
      if (isExcused(fired, months, first)) continue;
      const occasion = occasionOf(fired, months);
      const key = `${rule}|${occasion}`;
      out.set(key, { rule, severity, occasion, count: (out.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...out.values()];
}

/** Pages that overlap are one. */
function together(pages: readonly Page[]): Page[] {
  const out: Page[] = [];
  let until = -1;
  for (const page of pages.toSorted((a, b) => a.fired - b.fired)) {
    if (page.fired > until) out.push(page);
    until = Math.max(until, page.resolved ?? Infinity);
  }
  return out;
}

function isExcused(fired: number, { incidents, harmless }: Months, watcher: Watcher): boolean {
  const { covers, memoryMinutes } = watcher;
  return (
    incidents.some((incident) => {
      const wait = incident.kind.waitMinutes ?? 0;
      const memory = covers({ kind: incident.kind, slice: watcher.slice }) ? memoryMinutes : 0;
      return fired >= incident.start && fired <= incident.end + wait + memory + SETTLING;
    }) ||
    // That there is no collector, and that our picture is old, is worth a page.
    daysOff(harmless).some(
      ({ start, end }) =>
        fired >= start &&
        fired <= end &&
        BLIND.some((name) => covers({ kind: kindNamed(name), slice: watcher.slice })),
    )
  );
}

/** Of several, the shortest: it is the nearest at hand. */
function occasionOf(fired: number, { harmless }: Months): Occasion {
  const [nearest] = harmless
    .filter(({ start, end }) => fired >= start && fired <= end + SETTLING)
    .toSorted((a, b) => a.end - a.start - (b.end - b.start));
  return nearest?.what ?? 'nothing';
}

/** Months of 30.44 days in which nothing was wrong. */
export function quietMonths({ minutes, from, incidents, harmless }: Months): number {
  const dark = daysOff(harmless).filter(({ start }) => start >= from);
  const busy = [...incidents, ...dark].reduce((sum, { start, end }) => sum + end - start + SETTLING, 0);
  return (minutes - from - busy) / (30.44 * 1440);
}

function firstFrom(pages: readonly Page[], minute: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle] as Page).fired < minute) low = middle + 1;
    else high = middle;
  }
  return low;
}
