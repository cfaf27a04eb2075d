import type { Gateway } from './gateway.ts';
import type { Incident } from './incidents.ts';
import { GONE, TIMES } from './kinds.ts';
import type { Levels } from './noise.ts';

/** What an incident makes of the levels of the segments that it befalls. */
export function befall({ segments }: Gateway, incident: Incident, { shares, slowness }: Levels): void {
  const { effect } = incident.kind;
  for (const index of incident.slice.segments) {
    const own = shares[index];
    const paths = segments[index]?.paths ?? [];
    if (own === undefined) continue;
    if (effect.type === 'slow') slowness[index] = (slowness[index] ?? 0) + Math.log(TIMES[incident.form]);
    if (effect.type === 'silence') silence(effect.targets, paths[0] ?? 0, own);
    if (effect.type === 'share') raise(incident.rise, effect, paths, own);
  }
}

/** The part of a segment's traffic that still comes. */
export const stillComes = ({ kind, form }: Incident): number =>
  kind.effect.type === 'drop' ? 1 - GONE[form] : 1;

function silence(targets: readonly number[], first: number, shares: Float64Array): void {
  for (const path of targets) {
    shares[first] = (shares[first] ?? 0) + (shares[path] ?? 0);
    shares[path] = 0;
  }
}

function raise(
  rise: number,
  effect: { readonly targets: readonly number[]; readonly population: readonly number[] },
  paths: readonly number[],
  shares: Float64Array,
): void {
  const targets = effect.targets.filter((path) => paths.includes(path));
  if (targets.length === 0) return;
  const sum = (some: readonly number[]): number =>
    some.reduce((total, path) => total + (shares[path] ?? 0), 0);
  const population = sum(effect.population);
  const before = sum(targets) / population;
  const after = Math.min(0.98, before + rise);
  const others = (1 - after) / (1 - before);
  for (const path of effect.population) shares[path] = (shares[path] ?? 0) * others;
  for (const path of targets) shares[path] = (population * after) / targets.length;
}
