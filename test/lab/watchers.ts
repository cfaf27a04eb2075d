import type { Rule } from '../../alerts/rules/rule.ts';
import type { Incident } from './incidents.ts';
import type { Effect } from './kinds.ts';
import type { Months } from './months.ts';
import { pagesOf } from './pages.ts';
import { pollIndex } from './paths.ts';
import type { Watcher } from './score.ts';
import { type Classes, createTwins, intervalMinutes, SLOW_RULE, type Twin } from './twins.ts';
import type { Slice } from './slices.ts';

/** Rules that say the same of an incident as the kinds' own numbers do not say. */
const GAUGES: Readonly<Record<string, readonly Effect['type'][]>> = {
  GatewatchCollectorSilent: ['silent'],
  GatewatchPictureBehind: ['blind'],
  GatewatchCircuitOpen: ['blind'],
  GatewatchConsumerLag: ['lag'],
  GatewatchRejects: ['rejects'],
};

/**
 * The rules over the months, suppression included: for the gateway as a whole, then for each slice. The
 * counts of one slice are there at a time.
 */
export function watchersOf(months: Months, classes: Classes, slices: readonly Slice[]): Watcher[] {
  const whole = watchSlice(months, createTwins(months, classes), new Map());
  return [whole]
    .concat(slices.map((slice) => watchSlice(months, createTwins(months, classes, slice), whole.held)))
    .flatMap(({ watchers }) => watchers);
}

/** By rule: the minutes at which it holds, under any label. */
type Held = ReadonlyMap<string, Uint8Array>;

function watchSlice(months: Months, twins: readonly Twin[], held: Held): { watchers: Watcher[]; held: Held } {
  const own = new Map(twins.map(({ rule }) => [rule.name as string, new Uint8Array(months.minutes)]));
  const conditions = twins.map((twin) => {
    const holds = new Uint8Array(months.minutes);
    const any = own.get(twin.rule.name);
    const interval = intervalMinutes(twin.rule);
    for (let at = months.from - (months.from % interval); at < months.minutes; at++) {
      if (!twin.holds(at)) continue;
      holds[at] = 1;
      if (any !== undefined) any[at] = 1;
    }
    return { twin, holds };
  });
  const watchers = conditions.map(({ twin, holds }): Watcher => {
    const { rule, label, slice } = twin;
    const causes =
      rule.suppressedBy === undefined ? [] : [own.get(rule.suppressedBy), held.get(rule.suppressedBy)];
    const interval = intervalMinutes(rule);
    const evaluated = new Uint8Array(Math.ceil(months.minutes / interval));
    for (let index = 0; index < evaluated.length; index++) {
      const at = index * interval;
      evaluated[index] = Number(holds[at] === 1 && !causes.some((by) => by?.[at] === 1));
    }
    return {
      rule: rule.name,
      label,
      slice,
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
  return { watchers, held: own };
}

/** Is the rule meant to notice it? It is when it counts the orders that the incident makes as affected. */
function covers({ rule, slice, seen, hit }: Twin, incident: Pick<Incident, 'kind' | 'slice'>): boolean {
  const { effect } = incident.kind;
  const befallen = incident.slice;
  if (slice.name !== '' && !slice.segments.some((segment) => befallen.segments.includes(segment)))
    return false;
  if (effect.type === 'share') return rule.kind !== 'drop' && effect.targets.some((path) => hit.has(path));
  if (effect.type === 'slow') return rule.name === SLOW_RULE;
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
