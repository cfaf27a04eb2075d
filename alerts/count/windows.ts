import type { CountingRule } from '../rules/rule.ts';

/** Windows end at multiples of this. */
export const END_STEP_SECONDS = 30;

/** Asked for at each judgement of each slice. */
const known = new WeakMap<CountingRule, readonly number[]>();

/** All window lengths of a rule, in seconds, ascending: of its windows and of those that confirm them. */
export function lengthsOf(rule: CountingRule): readonly number[] {
  const lengths = known.get(rule) ?? sortedLengths(rule);
  known.set(rule, lengths);
  return lengths;
}

function sortedLengths(rule: CountingRule): number[] {
  const windows: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.condition.windows;
  const all = windows.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}
