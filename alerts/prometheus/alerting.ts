import { REASONS } from '../../schemas/dictionary.ts';
import { paymentName } from '../../schemas/payment-metrics.ts';
import { lengthsOf } from '../count/windows.ts';
import { ruleLabels } from '../explain/alert.ts';
import { SIDE_TEXT } from '../explain/page.ts';
import { RECOVERY } from '../rules/conditions.ts';
import type { GaugeRule, Rule, RuleWindow, ShareRule } from '../rules/rule.ts';
import { type CountedOrders, SEEN, windowName } from './recording.ts';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The orders that a rule is about: those with its reasons at its stages. */
export function affectedOrders(rule: ShareRule): CountedOrders {
  const places = rule.count.counts.map(({ hit, seen }) => placeOf(rule, hit, seen));
  const stages = places.map(({ stage }) => stage);
  const reasons = new Set(places.map((place) => place.reasons));
  const [list = ''] = reasons;
  if (reasons.size > 1) throw new Error(`${rule.name} counts other reasons at another stage`);
  const codes = new Set(list.split(',').map(Number));
  const details = REASONS.filter(({ code }) => codes.has(code)).map(({ detail }) => detail);
  return {
    name: rule.uid.replace(/^gatewatch-/, '').replaceAll('-', '_'),
    metric: 'failures',
    where: `stage=~"${stages.join('|')}", reason_detail=~"${details.join('|')}"`,
  };
}

/**
 * A share rule over reasons at stages, as PromQL over the windows of `recording.ts`: the windows and the
 * recovery of `judgeShare`, and the rule's fixed share, since Prometheus does not know what is usual. It has
 * no slices. The value of the alert is the number of affected orders.
 */
export function shareAlert(rule: ShareRule, runbookUrl: (ruleName: string) => string): AlertingRule {
  const place = `{{ $labels.gateway }} {{ $labels.stage }}`;
  return alert(rule, runbookUrl, {
    expr: rule.condition.windows.map((window) => windowExpr(rule, window)).join('\nor\n'),
    description: `${place}: {{ printf "%.0f" $value }} orders ${rule.affectedOrders}, more than is usual by chance. ${rule.explanation}`,
  });
}

/** That nobody counts: what the other rules see stands still. */
export function lateAlert(rule: GaugeRule, runbookUrl: (ruleName: string) => string): AlertingRule {
  const countedTo = paymentName('countedTo');
  return alert(rule, runbookUrl, {
    expr: `time() - max(${countedTo}) > ${rule.above}\nor\nabsent(${countedTo})`,
    description: `{{ printf "%.0f" $value }} ${rule.unit}. Up to ${rule.above} are tolerated. ${rule.explanation}`,
  });
}

function alert(
  rule: Rule,
  runbookUrl: (ruleName: string) => string,
  { expr, description }: { readonly expr: string; readonly description: string },
): AlertingRule {
  const { name, side } = rule;
  return {
    alert: name,
    expr,
    for: `${rule.pendingSeconds}s`,
    keep_firing_for: `${rule.keepFiringSeconds}s`,
    labels: ruleLabels(rule),
    annotations: {
      summary: rule.summary,
      description,
      side: SIDE_TEXT[side],
      steps: rule.steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
      runbook_url: runbookUrl(name),
    },
  };
}

function windowExpr(rule: ShareRule, { windowSeconds, confirmSeconds, shareAbove }: RuleWindow): string {
  const { z, minimumAffectedOrders, shareAbove: share } = rule.condition;
  const p = shareAbove ?? share;
  const affected = (seconds: number): string => windowName(affectedOrders(rule), seconds);
  const seen = (seconds: number): string => windowName(SEEN, seconds);
  const shorter = lengthsOf(rule).filter((length) => length < windowSeconds);
  return [
    `${affected(windowSeconds)} >= ${minimumAffectedOrders}`,
    `  and ${affected(windowSeconds)} > ${p} * ${seen(windowSeconds)} + ${z} * sqrt(${variance(p)} * ${seen(windowSeconds)})`,
    ...(confirmSeconds === undefined
      ? []
      : [`  and ${affected(confirmSeconds)} > ${p} * ${seen(confirmSeconds)}`]),
    ...shorter.map(
      (length) =>
        `  unless (${affected(length)} <= ${p} * ${seen(length)} and ${seen(length)} >= ${RECOVERY.enoughOrders})`,
    ),
  ].join('\n');
}

const variance = (p: number): number => Number((p * (1 - p)).toPrecision(10));

const STAGE = /^stage IN \('([A-Z_]+)'\)$/;
/** Metrics count all failures of an order, also those that a repetition mended. */
const REASON_LIST = /^reason_code IN \(([\d, ]+)\)(?: AND is_last)?$/;

/** @throws Error when a rule counts anything else: it cannot be said in payment metrics */
function placeOf(rule: ShareRule, hit: string, seenAt = rule.count.where ?? '') {
  const stage = STAGE.exec(seenAt)?.[1];
  const reasons = REASON_LIST.exec(hit)?.[1];
  if (stage === undefined || reasons === undefined)
    throw new Error(`${rule.name} does not count reasons at a stage`);
  return { stage, reasons };
}
