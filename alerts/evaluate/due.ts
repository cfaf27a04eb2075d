import { RULE_GROUPS, type RuleGroupName } from '../rules/rule.ts';

/**
 * Which instants are to be evaluated. An instant is a whole minute; as long as one is not evaluated it stays
 * due, so that load delays a page and does not lose it. Pure: clocks come in as data.
 */

/** Between two instants. */
export const INTERVAL_MS = RULE_GROUPS.fast.intervalSeconds * 1000;
/** A pass starts this long after its instant, so that what was read just before it is stored. */
export const SETTLE_MS = 3_000;
/** Older instants are given up: what was long ago is history, and nobody is paged for it. */
export const MOST_INSTANTS = 30;
/** The wall clock was set when it moved this much more or less than time has passed. */
const CLOCK_SET_MS = 90_000;

/** Now, in milliseconds. */
export interface Moment {
  /** Since 1970, by a clock that can be set forward and back. */
  readonly wallMs: number;
  /** On a clock that only runs. */
  readonly steadyMs: number;
}

/** An instant that was evaluated. */
export interface EvaluatedInstant {
  readonly asOfMs: number;
  /** When that was on the steady clock; null: before this process, or by another one. */
  readonly steadyMs: number | null;
}

/** An instant that is to be evaluated. */
export interface DueInstant {
  readonly asOfMs: number;
  readonly steadyMs: number;
  /** How much time counts as passed since the instant before. */
  readonly passedMs: number;
  /** Instants before it that were given up. */
  readonly missed: number;
}

/** What is due after the last instant that was evaluated, oldest first. `last` is null when there is none. */
export function dueInstants(last: EvaluatedInstant | null, { wallMs, steadyMs }: Moment): DueInstant[] {
  const steadyAt = (asOfMs: number): number => steadyMs - (wallMs - asOfMs);
  const newest = wholeMinute(wallMs - SETTLE_MS);
  const only = (passedMs: number): DueInstant[] => [
    { asOfMs: newest, steadyMs: steadyAt(newest), passedMs, missed: 0 },
  ];
  // Far in the future: the clock was set back since. By less, another collector's clock is ahead of ours.
  const isFuture = last?.steadyMs === null && last.asOfMs - wallMs > CLOCK_SET_MS;
  if (last === null || isFuture) return only(INTERVAL_MS);

  const lastSteadyMs = last.steadyMs ?? steadyAt(last.asOfMs);
  const passedMs = Math.max(0, steadyAt(newest) - lastSteadyMs);
  if (Math.abs(lastSteadyMs - steadyAt(last.asOfMs)) > CLOCK_SET_MS) return only(passedMs);

  const passed = Math.max(0, (newest - last.asOfMs) / INTERVAL_MS);
  const missed = Math.max(0, passed - MOST_INSTANTS);
  const each = passedMs / passed;
  return Array.from({ length: passed - missed }, (_, index) => {
    const place = missed + index + 1;
    return {
      asOfMs: last.asOfMs + place * INTERVAL_MS,
      steadyMs: lastSteadyMs + place * each,
      passedMs: index === 0 ? place * each : each,
      missed: index === 0 ? missed : 0,
    };
  });
}

/** The last whole minute. */
const wholeMinute = (ms: number): number => Math.floor(ms / INTERVAL_MS) * INTERVAL_MS;

/** The groups whose rules are evaluated at an instant. */
export const groupsAt = (asOfMs: number): RuleGroupName[] =>
  (Object.keys(RULE_GROUPS) as RuleGroupName[]).filter(
    (name) => asOfMs % (RULE_GROUPS[name].intervalSeconds * 1000) === 0,
  );
