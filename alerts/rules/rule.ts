import type { AlertRuleName } from '../../schemas/names.ts';
import type { OrderCount } from '../count/order-count.ts';

/** `critical` pages now, `warning` makes a ticket, `info` is context. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * Whose side the fault is on: the `provider` behind the service, the `gateway` (the service itself),
 * `merchant` (our shop, account or settings), the `issuer`, the `payer`, a `stranger` (an unknown sender who
 * reaches the intake), or the `collector` (gatewatch and what it runs on).
 */
export const SIDES = ['provider', 'gateway', 'merchant', 'issuer', 'payer', 'stranger', 'collector'] as const;
export type Side = (typeof SIDES)[number];

/** What an incident can cost beside lost orders. Such alerts are never muted, whatever their side. */
export const RISKS = ['security', 'money'] as const;
export type Risk = (typeof RISKS)[number];

/** Rules of a group are evaluated one after the other, so that they do not overload the store. */
export const RULE_GROUPS = {
  /** What people wait for. */
  fast: { name: 'gatewatch-fast', intervalSeconds: 60 },
  /** Long windows: they change slowly and cost more. */
  slow: { name: 'gatewatch-slow', intervalSeconds: 600 },
} as const;
export type RuleGroupName = keyof typeof RULE_GROUPS;

/** One window of a condition. */
export interface RuleWindow {
  readonly windowSeconds: number;
  /**
   * A shorter window, at the end of this one, that must be above the share as well, however few its orders.
   * @default none
   */
  readonly confirmSeconds?: number;
  /** Another limit than the condition's, for burn rates. 0..1. */
  readonly shareAbove?: number;
}

/**
 * When a share is an incident: in any window, at least `minimumAffectedOrders` are affected and their share
 * is above `shareAbove` (or the baseline) beyond chance. With a fixed share this means that the lower Wilson
 * bound lies above it, expressed as a count: see `limitOrders`.
 *
 * A window no longer counts once a shorter one, with `RECOVERY.enoughOrders`, is not above the share: an
 * incident that is over does not fire for as long as the longest window.
 */
export interface ShareCondition {
  /** Shortest first. */
  readonly windows: readonly RuleWindow[];
  readonly minimumAffectedOrders: number;
  /** Standard deviations that chance is allowed. */
  readonly z: number;
  /** Fixed share, 0..1. With a baseline: what holds until the baseline is known. */
  readonly shareAbove: number;
  /** Compare with the same hours of days before. @default the fixed share */
  readonly baseline?: ShareBaseline;
  /**
   * No incident of this rule while in one of these windows more orders than this share are affected, and
   * `minimumAffectedOrders` at least: another rule names the cause. @default none
   */
  readonly unlessAbove?: { readonly share: number; readonly windowsSeconds: readonly number[] };
}

export interface ShareBaseline {
  /**
   * The share must exceed the baseline by at least this much, 0..1: a significant rise may still be
   * unimportant. `floor`: by `shareAbove`, so that the limit is `shareAbove` where nothing is usual.
   */
  readonly rise: number | 'floor';
}

/**
 * When fewer orders than usual are an incident. A window no longer counts once a shorter one is halfway back
 * to usual.
 */
export interface DropCondition {
  readonly windows: readonly { readonly windowSeconds: number }[];
  /** With fewer expected orders the rule does not judge. */
  readonly minimumExpectedOrders: number;
  readonly z: number;
  /** An incident lies below this part of the expected orders. 0..1. */
  readonly below: number;
  /** Below this part it is an incident beyond chance, even where weeks differ much from one another. 0..1. */
  readonly certainBelow: number;
  /**
   * Compare windows of up to a quarter of an hour with the hour before as well. @default only with other
   * weeks
   */
  readonly step?: DropStep;
}

/**
 * For drops of the last minutes. Apart from the usual course of the day, an hour differs less from the hour
 * before than from the same hour of another week, so the hour before shows a smaller drop. For longer windows
 * only other weeks are a measure.
 */
export interface DropStep {
  /** An incident lies below this part of the orders expected from the hour before. 0..1. */
  readonly below: number;
  /**
   * How much the traffic of healthy hours varies at least around its usual course: a standard deviation, as a
   * part of the traffic. 0..1.
   */
  readonly variation: number;
}

interface RuleBase {
  /** CamelCase, beginning with `Gatewatch`. Also the runbook's file name. */
  readonly name: AlertRuleName;
  /** Never changes, since silences and history refer to it. At most 40 characters. */
  readonly uid: `gatewatch-${string}`;
  readonly severity: Severity;
  readonly side: Side;
  /** @default neither security nor money is at risk */
  readonly risk?: Risk;
  /** @default fast */
  readonly group?: RuleGroupName;
  /** The condition must hold this long before a page goes out. */
  readonly pendingSeconds: number;
  /** The alert stays on this long after the condition ended, so that it does not flap. */
  readonly keepFiringSeconds: number;
  /** One static sentence. */
  readonly summary: string;
  /** Ends the description: where it was seen and what it means. */
  readonly explanation: string;
  /** What to do first, in the page itself. */
  readonly steps: readonly [string, string, string];
  /** Key of a panel of the overview that shows the same. @default the incident dashboard */
  readonly panel?: string;
  /** While that rule's condition holds for a gateway, this one only repeats it, and is silent. */
  readonly suppressedBy?: RuleName;
  /**
   * Report also when the store gives no answer or, where a collector notifies, no row, which means that no
   * gateway is known. One rule is enough. @default false
   */
  readonly alertOnNoData?: boolean;
  /** Silent for a gateway unless the settings switch it on (`enabled`, or `enabled/LABEL`). @default false */
  readonly offByDefault?: boolean;
}
type RuleName = RuleBase['name'];

/** A share of orders. */
export interface ShareRule extends RuleBase {
  readonly kind: 'share';
  readonly count: OrderCount;
  readonly condition: ShareCondition;
  /** Completes "N of M orders ...": what happened to them. */
  readonly affectedOrders: string;
  /**
   * Labels are thresholds, lowest first: one of them is judged for a gateway, and one for each slice.
   * @default every label is judged
   */
  readonly threshold?: Threshold;
}

/**
 * The threshold that is judged: the lowest that few orders usually exceed, of the gateway or of the slice:
 * payouts may take hours where cards take seconds. The setting `slowerThanSeconds` of the first rule names
 * another one.
 */
export interface Threshold {
  /** At most this share of the orders of the first rule usually exceeds it. 0..1. */
  readonly usuallyAtMost: number;
  /** The rules that are judged by it. */
  readonly rules: readonly [RuleName, ...RuleName[]];
}

/** Fewer orders than usual. */
export interface DropRule extends RuleBase {
  readonly kind: 'drop';
  readonly count: OrderCount;
  readonly condition: DropCondition;
  /** Completes "N orders ...": what they did. */
  readonly countedOrders: string;
}

/** A number that is too large. */
export interface GaugeRule extends RuleBase {
  readonly kind: 'gauge';
  /**
   * SELECT of `gateway`, `label` ('' without one) and `number`. `as_of` stands for the evaluation instant. Of
   * a rule that is asked directly: of one number, with the macros of Grafana.
   */
  readonly sql: string;
  /**
   * `directly`: Grafana asks the SQL itself, since it must notice when there are no evaluations. The pass
   * leaves such a rule out. @default evaluated by the pass, like any other
   */
  readonly asked?: 'directly';
  /**
   * Fires for as long as rules are evaluated, and falls silent with them: not a page, but a sign of life.
   * @default false
   */
  readonly heartbeat?: boolean;
  /** Name of the label column beside `gateway`; null: none. */
  readonly splitBy: string | null;
  readonly above: number;
  /** Completes "N ...", e.g. `seconds since the last report`. */
  readonly unit: string;
}

/**
 * An alert rule as data: what it counts, when that is an incident, whose side it is on and what the page
 * says. SQL, the Grafana rule and the runbook's place all follow from it.
 */
export type Rule = ShareRule | DropRule | GaugeRule;
/** Rules that count orders. */
export type CountingRule = ShareRule | DropRule;

/** Name of the label column beside `gateway`, or null. */
export const labelOf = (rule: Rule): string | null =>
  rule.kind === 'gauge' ? rule.splitBy : rule.count.splitBy;

/** Whether Grafana asks the rule's SQL itself: it has no evaluations. */
export const isAskedDirectly = (rule: Rule): rule is GaugeRule & { asked: 'directly' } =>
  rule.kind === 'gauge' && rule.asked === 'directly';

export const isHeartbeat = (rule: Rule): boolean => rule.kind === 'gauge' && rule.heartbeat === true;
