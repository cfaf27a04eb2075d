import { labelFacts } from '../../alerts/count/incident-orders.ts';
import { orderFacts, type Scope } from '../../alerts/count/order-facts.ts';
import { lengthsOf } from '../../alerts/count/windows.ts';
import type { CountingRule } from '../../alerts/rules/rule.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import type { Counted } from './counts.ts';
import { msOf, orderOf, pollOf } from './orders.ts';
import { PATHS, POLL_ENDS } from './paths.ts';

/**
 * What a rule counts under a label, found by asking the rule's own SQL on the real engine about one order of
 * each path.
 */
export interface Classified {
  readonly label: string;
  readonly seen: readonly Counted[];
  readonly hit: readonly Counted[];
}

export interface Classifier {
  readonly classify: (rule: CountingRule) => Promise<readonly Classified[]>;
  readonly stop: () => Promise<void>;
}

const MINUTE = 100_000;
const NAMES: readonly string[] = [...PATHS.map(({ name }) => name), ...POLL_ENDS];

/** One order of each path, in a store of its own. */
export async function createClassifier(): Promise<Classifier> {
  const store: SeededStore = await startSeededStore();
  const made = PATHS.map((path) => orderOf(path, { gateway: 'lab', externalId: path.name, minute: MINUTE }));
  await store.seed({
    orders: made.map(({ order }) => order),
    callbacks: made.flatMap(({ callback }) => (callback === null ? [] : [callback])),
    polls: POLL_ENDS.map((end) => pollOf(end, { gateway: 'lab', externalId: end, minute: MINUTE })),
  });
  return {
    stop: () => store.stop(),
    async classify(rule) {
      const { count } = rule;
      const longestSeconds = Math.max(...lengthsOf(rule));
      const facts =
        await store.queryAsWriter(`SELECT external_id, fact.1 AS label, toUnixTimestamp(fact.2) AS seen, toUnixTimestamp(fact.3) AS hit
        FROM (${orderFacts([count.from], EVER, longestSeconds, (latest) => `${labelFacts(rule, latest)} AS facts`)}) ARRAY JOIN facts AS fact`);
      return count.counts.map(({ label }) => ({
        label,
        seen: counted(facts.data, label, 'seen'),
        hit: counted(facts.data, label, 'hit'),
      }));
    },
  };
}

function counted(
  rows: readonly Readonly<Record<string, unknown>>[],
  label: string,
  column: string,
): Counted[] {
  return rows.flatMap((row) => {
    const at = Number(row[column]);
    const path = NAMES.indexOf(String(row['external_id']));
    if (row['label'] !== label || at === 0 || path === -1) return [];
    return [{ path, atSecond: at - msOf(MINUTE) / 1000 }];
  });
}

const sqlTime = (minute: number): string => `toDateTime64(${msOf(minute) / 1000}, 6, 'UTC')`;
const within = (time: string): string =>
  `${time} >= ${sqlTime(MINUTE - 1440)} AND ${time} < ${sqlTime(MINUTE + 1440)}`;
const EVER: Scope = {
  asOf: sqlTime(MINUTE + 1440),
  setting: (_name, otherwise) => String(otherwise),
  greatestSetting: (_name, otherwise) => String(otherwise),
  within: (time) => within(time),
  end: sqlTime(MINUTE + 1440),
  reach: (time) => within(time),
  touched: () => '1',
};
