import type { Incident } from './incidents.ts';
import type { Page } from './pages.ts';
import type { Months } from './simulate.ts';

/** One rule with one label set, and when it would have paged. */
export interface Watcher {
  readonly rule: string;
  readonly label: string;
  readonly severity: string;
  /** Longest window in minutes: what it saw of an incident stays in there so long after it. */
  readonly memoryMinutes: number;
  /** Is the rule meant to notice it? */
  readonly covers: (incident: Incident) => boolean;
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
  /** Minutes from the end to the end of the alert that was first; null without one. */
  readonly resolvedAfter: number | null;
}

export interface FalsePages {
  readonly rule: string;
  readonly severity: string;
  /** Pages while nothing was wrong that the rule could mean. */
  readonly count: number;
}

/** The evaluation about minute m is at its half. */
const EVALUATED_AT = 0.5;
/** After an incident, traffic and shares are given so long to be usual again. */
const SETTLING = 30;

export function detections(incidents: readonly Incident[], watchers: readonly Watcher[]): Detection[] {
  return incidents.map((incident) => {
    const wait = incident.kind.waitMinutes ?? 0;
    let best: { page: Page; rule: string } | null = null;
    for (const { covers, pages, rule } of watchers) {
      if (!covers(incident)) continue;
      const page = pages[firstFrom(pages, incident.start)];
      if (page === undefined || page.fired > incident.end + wait) continue;
      if (best === null || page.fired < best.page.fired) best = { page, rule };
    }
    if (best === null) return { incident, detectedAfter: null, by: null, resolvedAfter: null };
    const { resolved } = best.page;
    return {
      incident,
      detectedAfter: Math.max(0, best.page.fired - incident.start - wait) + EVALUATED_AT,
      by: best.rule,
      resolvedAfter: resolved === null ? null : Math.max(0, resolved - incident.end - wait + EVALUATED_AT),
    };
  });
}

/**
 * Pages by rule that began while nothing was wrong: not in an incident nor shortly after it, and not while
 * the rule's window still held one that it covers.
 */
export function falsePages({ incidents }: Months, watchers: readonly Watcher[]): FalsePages[] {
  const out = new Map<string, FalsePages>();
  for (const { rule, severity, memoryMinutes, covers, pages } of watchers) {
    const before = out.get(rule) ?? { rule, severity, count: 0 };
    const wrong = pages.filter(
      ({ fired }) =>
        !incidents.some(
          (incident) =>
            fired >= incident.start &&
            fired <=
              incident.end +
                (incident.kind.waitMinutes ?? 0) +
                (covers(incident) ? memoryMinutes + SETTLING : SETTLING),
        ),
    );
    out.set(rule, { ...before, count: before.count + wrong.length });
  }
  return [...out.values()];
}

/**
 * Pages during incidents, of rules that do not cover them: true in their way, but one more page for the
 * person on call.
 */
export function sidePages({ incidents }: Months, watchers: readonly Watcher[]): number {
  let count = 0;
  for (const { covers, pages, severity } of watchers) {
    if (severity !== 'critical') continue;
    for (const { fired } of pages) {
      const during = incidents.filter(({ start, end }) => fired >= start && fired <= end + SETTLING);
      if (during.length > 0 && !during.some(covers)) count++;
    }
  }
  return count;
}

/** Months of 30.44 days in which nothing was wrong. */
export function quietMonths({ minutes, from, incidents }: Months): number {
  const busy = incidents.reduce((sum, { start, end }) => sum + end - start + SETTLING, 0);
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
