import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  CATALOGUE,
  OUTCOMES,
  REASON_GROUPS,
  REASONS,
  RESULTS,
  type Stage,
  STAGES,
  STATES,
} from '../../schemas/dictionary.ts';
import type { MoneyState } from '../../schemas/measures.ts';
import { POLL_OUTCOMES, VERDICTS } from '../../schemas/rows.ts';
import { causeInWords, NO_CAUSE, SIGNATURE_CAUSES } from '../../schemas/signature-causes.ts';
import {
  BAD,
  GOOD,
  OUTCOME_COLOURS,
  POLL_OUTCOME_COLOURS,
  REASON_GROUP_COLOURS,
  STAGE_COLOURS,
  STATE_COLOURS,
  VERDICT_COLOURS,
  WARN,
} from './colours.ts';

/** Value mappings from the dictionary. The raw code stays in the text, so that it can be searched for. */
type Entry = readonly [value: string, text: string, colour?: string];

const valueMap = (entries: readonly Entry[]): ValueMap[] => [
  {
    type: MappingType.ValueToText,
    options: Object.fromEntries(
      entries.map(([value, text, color], index) => [
        value,
        { text, index, ...(color === undefined ? {} : { color }) },
      ]),
    ),
  },
];

/** `4.1.4.63` -> `4.1.4.63: Status check found the payment declined: insufficient funds`. */
export const CODE_MAPPING = valueMap(
  CATALOGUE.map(({ action, description }) => [action, `${action}: ${description}`]),
);
/** `11` -> `11 TIMEOUT: no answer in time`. */
export const REASON_MAPPING = valueMap(
  REASONS.map(({ code, detail, label }) => {
    const value = String(code).padStart(2, '0');
    return [value, `${value} ${detail}: ${label}`];
  }),
);
export const REASON_GROUP_MAPPING = valueMap(
  REASON_GROUPS.map(({ name, label }) => [name, `${name}: ${label}`, REASON_GROUP_COLOURS[name]]),
);
/** Heads of narrow columns, e.g. `GATEWAY_CREATE` -> `2 create`. */
export const STAGE_TITLES: Readonly<Record<Stage, string>> = {
  INTERNAL: '1 internal',
  GATEWAY_CREATE: '2 create',
  PAYFORM: '3 form',
  CHECK: '4 check',
  GATEWAY_CALLBACK: '5 callback',
  MERCHANT_CALLBACK: '6 merchant',
};
/** In a table of counts, so that the others stand out. */
export const QUIET_ZERO = valueMap([['0', '-']]);

export const STAGE_MAPPING = valueMap(
  STAGES.map(({ code, name, label }) => [name, `${code} ${label}`, STAGE_COLOURS[name]]),
);
export const RESULT_MAPPING = valueMap(RESULTS.map(({ name, label }) => [name, label]));
export const STATE_MAPPING = valueMap(STATES.map(({ name, label }) => [name, label, STATE_COLOURS[name]]));
const words = (name: string): string => name.replaceAll('_', ' ');
export const OUTCOME_MAPPING = valueMap(
  [...OUTCOMES, 'pending' as const].map((name) => [name, words(name), OUTCOME_COLOURS[name]]),
);
export const VERDICT_MAPPING = valueMap(VERDICTS.map((name) => [name, words(name), VERDICT_COLOURS[name]]));
/** A cause in words; what has none is no mismatch. */
export const SIGNATURE_CAUSE_MAPPING = valueMap([
  ...SIGNATURE_CAUSES.map(({ name }) => [name, causeInWords(name)] as const),
  [NO_CAUSE, '-'],
]);
/** States of an alert, and of a rule at one instant. */
export const ALERT_STATE_MAPPING = valueMap([
  ['Pending', 'pending', WARN],
  ['Alerting', 'firing', BAD],
  ['Recovering', 'recovering', 'blue'],
  ['NoData', 'no data', WARN],
  ['Error', 'error', WARN],
]);
export const BREACH_MAPPING = valueMap([
  ['0', 'no', 'text'],
  ['1', 'yes', BAD],
]);
export const POLL_OUTCOME_MAPPING = valueMap(
  POLL_OUTCOMES.map((name) => [name, words(name), POLL_OUTCOME_COLOURS[name]]),
);

export const FINDING_STATE_MAPPING = valueMap([
  ['open', 'open', BAD],
  ['resolved', 'resolved', GOOD],
]);

const MONEY_TEXT: Readonly<Record<MoneyState, Entry>> = {
  at_risk: ['at_risk', 'at risk: undecided after a technical failure', BAD],
  delayed: ['delayed', 'delayed: undecided half an hour after processing began', WARN],
  declined_technically: ['declined_technically', 'declined for a technical reason', BAD],
  recovered: ['recovered', 'recovered: paid after a technical failure', GOOD],
};
/** What has become of an order's money. */
export const MONEY_MAPPING = valueMap(Object.values(MONEY_TEXT));
