import { WHOLE } from '../count/slices.ts';
import { labelOf, type Rule } from '../rules/rule.ts';
import type { AlertInstance, Labels } from './alert-state.ts';
import type { Evaluation } from './evaluation.ts';

/** The numbers of an evaluation that a page shows. */
export type EvaluationNumbers = Pick<
  Evaluation,
  | 'gateway'
  | 'slice'
  | 'label'
  | 'as_of'
  | 'window_from'
  | 'window_to'
  | 'seen'
  | 'affected'
  | 'expected'
  | 'limit'
  | 'share'
  | 'number'
>;

/** An evaluation as an alert's state has it: its numbers by name, and times in seconds since 1970. */
export function instanceOf(rule: Rule, evaluation: Evaluation): AlertInstance {
  const { gateway, slice, label, as_of, window_from, window_to, breach } = evaluation;
  const { seen, affected, expected, limit, share, number } = evaluation;
  const name = labelOf(rule);
  return {
    labels: {
      gateway,
      ...(name === null ? {} : { [name]: label }),
      ...(slice === WHOLE ? {} : { slice }),
    },
    firing: breach === 1,
    values: {
      as_of: as_of / 1e6,
      window_from: window_from / 1e6,
      window_to: window_to / 1e6,
      seen,
      affected,
      expected,
      limit,
      share,
      number,
    },
  };
}

/** The numbers again; those that an earlier version did not keep are 0. */
export function numbersOf(
  rule: Rule,
  { labels, values }: { readonly labels: Labels; readonly values: AlertInstance['values'] },
): EvaluationNumbers {
  const number = (name: string): number => values[name] ?? 0;
  const micros = (name: string): number => Math.round(number(name) * 1e6);
  return {
    gateway: labels['gateway'] ?? '',
    slice: labels['slice'] ?? WHOLE,
    label: labels[labelOf(rule) ?? ''] ?? '',
    as_of: micros('as_of'),
    window_from: micros('window_from'),
    window_to: micros('window_to'),
    seen: number('seen'),
    affected: number('affected'),
    expected: values['expected'] ?? null,
    limit: number('limit'),
    share: values['share'] ?? null,
    number: values['number'] ?? null,
  };
}
