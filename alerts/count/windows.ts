import type { CountingRule } from '../rules/rule.ts';

/** Windows end at multiples of this. */
export const END_STEP_SECONDS = 30;

/** Asked for at each judgement of each slice. */
const known = new WeakMap<
  CountingRule,
  { readonly judged: readonly number[]; readonly all: readonly number[] }
>();

function lengths(rule: CountingRule) {
  const found = known.get(rule) ?? sortedLengths(rule);
  known.set(rule, found);
  return found;
}

/** All window lengths of a rule, in seconds, ascending: what has to be counted. */
export const lengthsOf = (rule: CountingRule): readonly number[] => lengths(rule).all;

/** Those of its windows and of what confirms them, without those that only refute it. */
export const judgedLengthsOf = (rule: CountingRule): readonly number[] => lengths(rule).judged;

function sortedLengths(rule: CountingRule) {
  const windows: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.condition.windows;
  const judged = windows.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  const refuting = rule.kind === 'share' ? (rule.condition.unlessAbove?.windowsSeconds ?? []) : [];
  return { judged: ascending(judged), all: ascending([...judged, ...refuting]) };
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].toSorted((a, b) => a - b);
