import type { DropRule, ShareRule } from '../rules/rule.ts';

/** All window lengths of a rule, in seconds, ascending: of its windows and of those that confirm them. */
export function lengthsOf(rule: ShareRule | DropRule): number[] {
  const windows: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.condition.windows;
  const all = windows.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}
