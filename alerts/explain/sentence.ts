import type { Evaluation } from '../evaluate/evaluation.ts';
import type { Rule } from '../rules/rule.ts';
import { dayText, shortText, timesText } from './zoned.ts';

/** What a sentence says of an evaluation. */
export type SentenceNumbers = Pick<
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
 *
 * @param timeZone the reader's, for the same times beside UTC
 */
export function sentenceOf(rule: Rule, evaluation: SentenceNumbers, timeZone = 'UTC'): string {
  return `${counted(rule, evaluation, timeZone)}; ${judged(rule, evaluation)}.`;
}

function counted(rule: Rule, evaluation: SentenceNumbers, timeZone: string): string {
  const { seen, affected, share, as_of: asOf, number } = evaluation;
  switch (rule.kind) {
    case 'share': {
      const percent = share === null ? '' : ` (${numberText(share * 100)} %)`;
      return `${numberText(affected)} of ${numberText(seen)} orders${percent} ${rule.affectedOrders} ${windowText(evaluation, timeZone)}`;
    }
    case 'drop':
      return `${numberText(seen)} orders ${rule.countedOrders} ${windowText(evaluation, timeZone)}`;
    case 'gauge':
      return number === null
        ? `Not known at ${timesText([asOf], timeZone, shortText, false)}: ${rule.unit}`
        : `${numberText(number)} ${rule.unit} at ${timesText([asOf], timeZone, shortText, false)}`;
  }
}

function judged(rule: Rule, evaluation: SentenceNumbers): string {
  const { expected, limit, breach, suppressed_by: suppressedBy } = evaluation;
  if (suppressedBy === 'settings') return 'the settings switch this rule off';
  if (suppressedBy !== '') return `${suppressedBy} names the cause`;
  const usual = expected === null ? '' : `about ${numberText(expected)} are usual, `;
  switch (rule.kind) {
    case 'share':
      // No number of orders is an incident.
      if (expected === null && rule.condition.shareAbove >= 1 && breach === 0)
        return 'not judged until it is known what is usual';
      return `${usual}${numberText(limit)} ${breach === 1 ? 'would have been enough' : 'would be an incident'}`;
    case 'drop':
      return `${usual}${limit < 0 ? 'no number would be too few' : `${numberText(limit)} or fewer are an incident`}`;
    case 'gauge':
      return `up to ${numberText(limit)} are tolerated`;
  }
}

/**
 * `between 10:15 and 10:30 UTC`; with days when it spans midnight, and with seconds where the window of a
 * gateway that has fallen behind ends at no whole minute.
 */
function windowText({ window_from: from, window_to: to }: SentenceNumbers, timeZone: string): string {
  const withDay = dayText(from) !== dayText(to);
  return `between ${timesText([from, to], timeZone, shortText, withDay)}`;
}

const numberText = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
