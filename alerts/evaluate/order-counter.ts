import { type Clocks, endOf, settingsOf, type WindowEnds } from '../count/clocks.ts';
import { createOrderCounts, type OrderCounts } from '../count/order-counts.ts';
import {
  type AddOrders,
  countedTogether,
  type GatewayEnd,
  windowCounting,
  type WindowCountRow,
} from '../count/window-counts.ts';
import type { CountingRule } from '../rules/rule.ts';

/** Counts the orders of rules at an instant, in seconds since 1970. */
export type OrderCounter = (
  rules: readonly CountingRule[],
  ends: readonly WindowEnds[],
  clocks: Clocks,
  asOf: number,
) => Promise<OrderCounts>;

/**
 * A gateway whose windows end this long ago is counted apart, and rarely: the windows of others must not be
 * read back to it, and its own stand still but for what comes late.
 */
const BEHIND_SECONDS = 3_600;
const BEHIND_EVERY_SECONDS = 600;

/** What was counted at a gateway that is behind. */
interface Behind {
  readonly end: number;
  readonly asOf: number;
  readonly added: readonly Parameters<AddOrders>[];
}

/** @param query runs one SELECT */
export function createOrderCounter(query: <T>(sql: string) => Promise<T[]>): OrderCounter {
  const behind = new Map<string, Behind>();

  return async (asked, ends, clocks, asOf) => {
    const counts = createOrderCounts();
    for (const rules of Map.groupBy(asked, countedTogether).values()) {
      const [first, ...others] = rules;
      if (first === undefined) continue;
      const all = ends.map((one): GatewayEnd => ({ gateway: one.gateway, end: endOf(first, one, asOf) }));
      const near = all.filter(({ end }) => asOf - end <= BEHIND_SECONDS);
      if (near.length > 0) await countWindows([first, ...others], near, clocks, asOf, counts.add);
      for (const one of all.filter(({ end }) => asOf - end > BEHIND_SECONDS))
        await countBehind([first, ...others], one, clocks, asOf, counts.add);
    }
    return counts;
  };

  async function countWindows(
    rules: readonly [CountingRule, ...CountingRule[]],
    ends: readonly GatewayEnd[],
    clocks: Clocks,
    asOf: number,
    add: AddOrders,
  ): Promise<void> {
    const settings = (rule: string, name: string): Map<string, number> => settingsOf(clocks, rule, name);
    const { sql, take } = windowCounting({ rules, ends, asOf, settingOf: settings });
    take(await query<WindowCountRow>(sql), add);
  }

  async function countBehind(
    rules: readonly [CountingRule, ...CountingRule[]],
    one: GatewayEnd,
    clocks: Clocks,
    asOf: number,
    add: AddOrders,
  ): Promise<void> {
    const key = [one.gateway, ...rules.map(({ name }) => name)].join('|');
    const known = behind.get(key);
    const isFresh = known?.end === one.end && Math.abs(asOf - known.asOf) < BEHIND_EVERY_SECONDS;
    const added: Parameters<AddOrders>[] = [];
    if (!isFresh) {
      await countWindows(rules, [one], clocks, asOf, (...at) => void added.push(at));
      behind.set(key, { end: one.end, asOf, added });
    }
    for (const at of isFresh ? known.added : added) add(...at);
  }
}
