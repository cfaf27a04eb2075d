import { hasSlices } from '../../alerts/count/usual.ts';
import { RECOVERY } from '../../alerts/rules/conditions.ts';
import { RULES } from '../../alerts/rules/all.ts';
import {
  isAskedDirectly,
  isHeartbeat,
  labelOf,
  type Rule,
  RULE_GROUPS,
  type RuleWindow,
  type ShareRule,
} from '../../alerts/rules/rule.ts';
import { code, GENERATED, page, table } from './markdown.ts';

/** docs/reference/alerts.md: every rule, when it fires and who should care. */
export function alertsPage(): string {
  return page(
    '# Alert rules',
    GENERATED,
    'A rule counts distinct orders, never rows. Its windows end where the picture of the gateway does, so a gateway that cannot be ' +
      'seen keeps its last value. A share fires when it lies above the limit beyond chance (the lower Wilson bound, turned around to a ' +
      `count of orders), on any of its windows, and only while every shorter window with ${RECOVERY.enoughOrders} orders is above it too: ` +
      'what is over ends within minutes where there is traffic, and within hours where there is little. Where something is usual, being ' +
      'halfway back to it counts as over.',
    'Try a rule on your own history before it wakes anybody: `gatewatch backtest TechTimeouts`. Change its limits for one gateway with ' +
      '`alerts.rules` in the [configuration](configuration.md), off included. Routing by severity and side, contact points and templates: ' +
      '[notifications](../../alerts/out/provisioning/notifications).',
    '## At a glance',
    table(
      ['Rule', 'Severity', 'Side', 'Says'],
      RULES.map((rule) => [
        `[${code(rule.name)}](#${rule.name.toLowerCase()})`,
        rule.severity,
        rule.side,
        rule.summary,
      ]),
    ),
    ...RULES.flatMap(section),
  );
}

function section(rule: Rule): string[] {
  const facts: [string, string][] = [
    ['Severity, side', `${rule.severity}, ${rule.side}`],
    ...(rule.risk === undefined ? [] : [['At risk', `${rule.risk}: never muted`] satisfies [string, string]]),
    ['One alert per', alertPer(rule)],
    ['Fires when', condition(rule)],
    [
      'Waits',
      `${span(rule.pendingSeconds)} before it fires, ${span(rule.keepFiringSeconds)} before it resolves; evaluated every ` +
        span(RULE_GROUPS[rule.group ?? 'fast'].intervalSeconds),
    ],
    ...(rule.suppressedBy === undefined
      ? []
      : [['Silent while', `${code(rule.suppressedBy)} holds for the gateway`] satisfies [string, string]]),
    ...(rule.offByDefault === true
      ? [
          [
            'Judged for',
            "what the gateway's `callbackTypes` name: all, unless the configuration names fewer",
          ] satisfies [string, string],
        ]
      : []),
  ];
  return [
    `## ${rule.name}`,
    `${rule.summary} ${rule.explanation} [Runbook](../../alerts/runbooks/${rule.name}.md)`,
    table(['', ''], facts),
  ];
}

function alertPer(rule: Rule): string {
  if (isAskedDirectly(rule) || isHeartbeat(rule)) return 'installation';
  const label = labelOf(rule);
  const slice = hasSlices(rule) ? ', or slice of its orders' : '';
  return `${label === null ? 'gateway' : `gateway and ${label}`}${slice}`;
}

function condition(rule: Rule): string {
  if (isHeartbeat(rule)) return 'always, while rules are evaluated';
  if (rule.kind === 'gauge') return `more than ${rule.above} ${rule.unit}`;
  if (rule.kind === 'drop') {
    const windows = rule.condition.windows.map(({ windowSeconds }) => span(windowSeconds)).join(', ');
    return (
      `fewer than ${percent(rule.condition.below)} of the orders expected by the weeks before ${rule.countedOrders}, within ${windows}` +
      (rule.condition.step === undefined
        ? '; '
        : `, or fewer than ${percent(rule.condition.step.below)} of those expected by the hour before, within a quarter of an hour at most; `) +
      `judged from ${rule.condition.minimumExpectedOrders} expected orders on`
    );
  }
  const { condition } = rule;
  const limit =
    condition.baseline === undefined
      ? `more than ${percent(condition.shareAbove)} of the orders`
      : `${percent(condition.baseline.rise === 'floor' ? condition.shareAbove : condition.baseline.rise)} more of the orders than at the same hours of the weeks before (${untilKnown(condition)})`;
  return (
    `${limit} ${rule.affectedOrders}, at least ${condition.minimumAffectedOrders}, within ` +
    condition.windows.map((window) => windowText(window)).join(', ')
  );
}

/** What holds as long as nothing is usual: beyond all orders nothing is. */
const untilKnown = ({ shareAbove }: ShareRule['condition']): string =>
  shareAbove >= 1
    ? 'until these are known, not judged'
    : `until these are known: more than ${percent(shareAbove)}`;

function windowText({ windowSeconds, confirmSeconds, shareAbove }: RuleWindow): string {
  const notes = [
    ...(shareAbove === undefined ? [] : [`above ${percent(shareAbove)}`]),
    ...(confirmSeconds === undefined ? [] : [`still so in the last ${span(confirmSeconds)}`]),
  ];
  return notes.length === 0 ? span(windowSeconds) : `${span(windowSeconds)} (${notes.join(', ')})`;
}

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

function span(seconds: number): string {
  if (seconds === 0) return 'no time';
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
