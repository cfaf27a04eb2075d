import type { Evaluation } from '../evaluate/evaluation.ts';
import type { Rule } from '../rules/rule.ts';

/** What of an evaluation a sentence tells. */
export type ToldEvaluation = Pick<
  Evaluation,
  | 'window_from'
  | 'window_to'
  | 'as_of'
  | 'seen'
  | 'affected'
  | 'expected'
  | 'limit'
  | 'share'
  | 'number'
  | 'breach'
  | 'suppressed_by'
>;

/**
 * What a rule saw, in one sentence without a full stop in between:
 *
 *     12 of 340 orders (3.5 %) timed out (reason 11) between 10:15 and 10:30 UTC; 9 would have been enough.
 */
export function sentenceOf(rule: Rule, evaluation: ToldEvaluation): string {
  return `${counted(rule, evaluation)}; ${judged(rule, evaluation)}.`;
}

function counted(rule: Rule, evaluation: ToldEvaluation): string {
  const { seen, affected, share, as_of: asOf, number } = evaluation;
  switch (rule.kind) {
    case 'share': {
      const percent = share === null ? '' : ` (${numberText(share * 100)} %)`;
      return `${numberText(affected)} of ${numberText(seen)} orders${percent} ${rule.affectedOrders} ${windowText(evaluation)}`;
    }
    case 'drop':
      return `${numberText(seen)} orders ${rule.countedOrders} ${windowText(evaluation)}`;
    case 'gauge':
      return number === null
        ? `Not known at ${timeText(asOf)} UTC: ${rule.unit}`
        : `${numberText(number)} ${rule.unit} at ${timeText(asOf)} UTC`;
  }
}

function judged(rule: Rule, evaluation: ToldEvaluation): string {
  const { expected, limit, breach, suppressed_by: suppressedBy } = evaluation;
  if (suppressedBy === 'settings') return 'the settings switch this rule off';
  if (suppressedBy !== '') return `${suppressedBy} tells the cause`;
  const usual = expected === null ? '' : `about ${numberText(expected)} are usual, `;
  switch (rule.kind) {
    case 'share':
      return `${usual}${numberText(limit)} ${breach === 1 ? 'would have been enough' : 'would be an incident'}`;
    case 'drop':
      return `${usual}${limit < 0 ? 'no number would be too few' : `${numberText(limit)} or fewer are an incident`}`;
    case 'gauge':
      return `up to ${numberText(limit)} are tolerated`;
  }
}

/** `between 10:15 and 10:30 UTC`; with days when it spans midnight. */
function windowText({ window_from: from, window_to: to }: ToldEvaluation): string {
  const withDay = dayText(from) !== dayText(to);
  return `between ${timeText(from, withDay)} and ${timeText(to, withDay)} UTC`;
}

const iso = (micros: number): string => new Date(micros / 1000).toISOString();
const dayText = (micros: number): string => iso(micros).slice(0, 10);

/** Minutes; with seconds where the window of a gateway that has fallen behind ends at no whole minute. */
function timeText(micros: number, withDay = false): string {
  const time = iso(micros).slice(11, 19).replace(/:00$/, '');
  return withDay ? `${dayText(micros)} ${time}` : time;
}

const numberText = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
