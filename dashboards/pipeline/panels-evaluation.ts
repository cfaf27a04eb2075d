import { EVALUATION_AGE, EVALUATION_DURATION } from '../house/thresholds.ts';
import { label } from '../house/fields.ts';
import { statPanel, timeSeriesPanel } from '../house/panels.ts';
import * as queries from './queries.ts';

/** Are the alert rules evaluated? A collector does so once a minute, for all readers of their numbers. */

const DURATION_LIMITS = {
  warnAbove: EVALUATION_DURATION.warnAboveMs,
  badAbove: EVALUATION_DURATION.badAboveMs,
};
const NO_EVALUATION = 'no evaluation: does a collector run?';

export const evaluationAge = statPanel({
  key: 'evaluation-age',
  title: 'Age of the newest evaluation',
  description:
    'Seconds since the instant of the newest evaluation of the alert rules (as_of), and how long that ' +
    'pass took. One collector evaluates once a minute. Good: below ' +
    `${EVALUATION_AGE.warnAboveSeconds} s; above ${EVALUATION_AGE.badAboveSeconds} s nobody learns of an ` +
    'incident. Next: the passes beside, then the log of the collectors below.',
  sql: queries.EVALUATION_AGE_SQL,
  unit: 's',
  decimals: 0,
  size: [8, 8],
  noValue: NO_EVALUATION,
  limits: { warnAbove: EVALUATION_AGE.warnAboveSeconds, badAbove: EVALUATION_AGE.badAboveSeconds },
  fields: {
    evaluation_age: { title: 'age' },
    pass_ms: { title: 'pass took', unit: 'ms', limits: DURATION_LIMITS },
  },
});

export const evaluationPasses = timeSeriesPanel({
  key: 'evaluation-passes',
  title: 'Duration and delay of evaluations, by collector',
  description:
    'How long the pass over all alert rules took (took_ms), and how much later than its instant it was ' +
    'written down (evaluated_at - as_of), the longest in each interval, by the collector that ' +
    'evaluated. Good: a few seconds, no gaps. Unusual above ' +
    `${EVALUATION_DURATION.warnAboveMs / 1000} s, bad above ${EVALUATION_DURATION.badAboveMs / 1000} s: ` +
    'passes begin to be left out. A change of collector is one taking over. Next: memory and size of ' +
    'the store below.',
  sql: queries.EVALUATION_PASSES_SQL,
  unit: 'ms',
  decimals: 0,
  size: [16, 8],
  noValue: NO_EVALUATION,
  limits: DURATION_LIMITS,
  legendValues: ['mean', 'max', 'lastNotNull'],
  series: {
    '/^pass_ms/': { title: `${label('collector')} pass` },
    '/^delay_ms/': { title: `${label('collector')} delay` },
  },
});
