import type { AlertRuleName } from '../../schemas/names.ts';
import { lengthsOf } from '../count/windows.ts';
import type { Rule } from '../rules/rule.ts';
import { affectedOrders, type AlertingRule, lateAlert, shareAlert } from './alerting.ts';
import { DECIDED, SEEN, totals, windows } from './recording.ts';

/** What a shop without ClickHouse alerts has in Prometheus, and the rule that fires when that is blind. */
export const PROMETHEUS_RULES: readonly AlertRuleName[] = [
  'GatewatchTechTimeouts',
  'GatewatchAuthzFailures',
  'GatewatchSignatureMismatches',
  'GatewatchEvaluationsLate',
];

const INTERVAL = '30s';

/** Rule files for Prometheus, by name: what they hold, not yet as text. */
export function prometheusFiles(
  rules: readonly Rule[],
  runbookUrl: (ruleName: string) => string,
): ReadonlyMap<string, object> {
  const chosen = PROMETHEUS_RULES.map((name) => {
    const rule = rules.find((one) => one.name === name);
    if (rule === undefined) throw new Error(`there is no rule ${name}`);
    return rule;
  });
  const shares = chosen.filter((rule) => rule.kind === 'share');
  const alerts = chosen.map((rule): AlertingRule => {
    if (rule.kind === 'drop') throw new Error(`${rule.name} compares with other weeks`);
    return rule.kind === 'share' ? shareAlert(rule, runbookUrl) : lateAlert(rule, runbookUrl);
  });
  const group = (name: string, some: readonly object[]): object => ({
    name,
    interval: INTERVAL,
    rules: some,
  });
  return new Map([
    [
      'gatewatch-recording.yaml',
      {
        groups: [
          // One after the other: a window reads totals, and an alert reads windows.
          group('gatewatch-payment-totals', [
            ...totals(),
            ...windows(DECIDED, DECIDED.lengths),
            ...windows(SEEN, shares.flatMap(lengthsOf)),
            ...shares.flatMap((rule) => windows(affectedOrders(rule), lengthsOf(rule))),
          ]),
        ],
      },
    ],
    ['gatewatch-alerts.yaml', { groups: [group('gatewatch-payment-alerts', alerts)] }],
  ]);
}
