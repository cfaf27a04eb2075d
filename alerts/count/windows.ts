import type { CountingRule } from '../rules/rule.ts';

/** Windows end at multiples of this. */
export const END_STEP_SECONDS = 30;

/** All window lengths of a rule, in seconds, ascending: of its windows and of those that confirm them. */
export function lengthsOf(rule: CountingRule): number[] {
  const windows: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.condition.windows;
  const all = windows.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}
