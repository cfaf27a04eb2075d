import type { Rule } from '../../alerts/rules/rule.ts';
import type { Incident } from './incidents.ts';
import { sigmaDrop, sigmaShare, staticAbsence, staticShare } from './copied-rules.ts';
import { pagesOf } from './pages.ts';
import { pollIndex } from './paths.ts';
import type { Watcher } from './score.ts';
import type { Months } from './simulate.ts';
import { intervalMinutes, type Twin } from './twins.ts';

/** Rules that say the same of an incident as the kinds' own numbers do not say. */
const GAUGES: Readonly<Record<string, readonly Incident['kind']['effect']['type'][]>> = {
  GatewatchCollectorSilent: ['silent'],
  GatewatchPictureBehind: ['blind'],
  GatewatchCircuitOpen: ['blind'],
  GatewatchConsumerLag: ['lag'],
  GatewatchRejects: ['rejects'],
};

/** Our rules over the months, suppression included. */
export function ourWatchers(months: Months, twins: readonly Twin[]): Watcher[] {
  const held = new Map<string, Uint8Array>();
  for (const { rule } of twins) held.set(rule.name, new Uint8Array(months.minutes));
  const conditions = twins.map((twin) => {
    const holds = new Uint8Array(months.minutes);
    const any = held.get(twin.rule.name);
    for (let at = months.from; at < months.minutes; at++) {
      if (!twin.holds(at)) continue;
      holds[at] = 1;
      if (any !== undefined) any[at] = 1;
    }
    return { twin, holds };
  });
  return conditions.map(({ twin, holds }) => {
    const { rule, label } = twin;
    const by = rule.suppressedBy === undefined ? undefined : held.get(rule.suppressedBy);
    const interval = intervalMinutes(rule);
    const evaluated = new Uint8Array(Math.ceil(months.minutes / interval));
    for (let index = 0; index < evaluated.length; index++) {
      const at = index * interval;
      evaluated[index] = Number(holds[at] === 1 && by?.[at] !== 1);
    }
    return {
      rule: rule.name,
      label,
      severity: rule.severity,
      memoryMinutes: memoryOf(rule),
      covers: (incident) => covers(twin, incident),
      pages: pagesOf({
        holds: evaluated,
        intervalMinutes: interval,
        pendingMinutes: rule.pendingSeconds / 60,
        keepFiringMinutes: rule.keepFiringSeconds / 60,
      }),
    };
  });
}

/** The copied rules over the same counts and labels: what would be had without the statistics. */
export function copiedWatchers(months: Months, twins: readonly Twin[], which: 'static' | 'sigma'): Watcher[] {
  return twins.flatMap((twin): Watcher[] => {
    const { rule, label, measures } = twin;
    if (measures === null || COPIED_ONCE.has(rule.name)) return [];
    const { seen, hit } = measures;
    const holds =
      rule.kind === 'drop'
        ? which === 'static'
          ? staticAbsence(months, seen)
          : sigmaDrop(months, seen)
        : which === 'static'
          ? staticShare(months, seen, hit)
          : sigmaShare(months, seen, hit);
    const pages = pagesOf({ holds, intervalMinutes: 1, pendingMinutes: 1, keepFiringMinutes: 5 });
    return [
      {
        rule: rule.name,
        label,
        severity: rule.severity,
        memoryMinutes: 5,
        covers: (incident) => covers(twin, incident),
        pages,
      },
    ];
  });
}

/** Counts that two of our rules share: the copied rules watch them once. */
const COPIED_ONCE: ReadonlySet<string> = new Set(['GatewatchTechnicalBurnSlow', 'GatewatchForgedCallbacks']);

/** Is the rule meant to notice it? It is when it counts the orders that the incident makes as affected. */
function covers({ rule, seen, hit }: Twin, { kind: { effect } }: Incident): boolean {
  if (effect.type === 'share') return rule.kind !== 'drop' && effect.targets.some((path) => hit.has(path));
  if (rule.kind === 'gauge') return (GAUGES[rule.name] ?? []).includes(effect.type);
  if (effect.type === 'blind') return rule.kind === 'share' && hit.has(pollIndex(effect.polls));
  if (effect.type === 'silence')
    return rule.kind === 'drop' && [...seen].every((path) => effect.targets.includes(path));
  return effect.type === 'drop' && rule.kind === 'drop' && seen.size > 10;
}

function memoryOf(rule: Rule): number {
  if (rule.kind === 'gauge') return 15;
  return Math.max(...rule.condition.windows.map(({ windowSeconds }) => windowSeconds)) / 60;
}
