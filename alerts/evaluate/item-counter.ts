import {
  type AddOrders,
  type CountingRule,
  countsItems,
  type GatewayEnd,
  type ItemCountRow,
  itemCounting,
} from '../count/item-counts.ts';
import { markFacts } from '../count/item-facts.ts';
import {
  type CodeBits,
  codeBitsSql,
  codesSince,
  type Frontier,
  frontierSql,
  keepMarks,
  NO_FRONTIER,
} from '../count/marks.ts';

export interface ItemCounterOptions {
  readonly rules: readonly CountingRule[];
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
}

/** Counts orders over history items, from marks that are kept and from the newest items. */
export interface ItemCounter {
  readonly count: (
    rules: readonly CountingRule[],
    ends: readonly GatewayEnd[],
    asOf: number,
    add: AddOrders,
  ) => Promise<void>;
  /** Keeps the marks of what has become old by `asOf`, at most a few hours of them at a time. */
  readonly keep: (asOf: number, command: (sql: string) => Promise<void>) => Promise<void>;
}

/** Marks are kept of items that are this old, observed this long ago: rows are stored within that time. */
const KEPT_AFTER_SECONDS = 1_200;
const OBSERVED_AFTER_SECONDS = 900;
const KEEP_EVERY_SECONDS = 300;
/** How far back marks reach; and how much of that one call makes, since much history may be there. */
const REACH_SECONDS = 74 * 3_600;
const MOST_AT_ONCE_SECONDS = 6 * 3_600;
/** A gateway whose windows end this long ago is counted apart: few of the marks that it needs are kept. */
const BLIND_SECONDS = 4 * 3_600;
/** How often such a gateway is counted anew though its windows stand still: something may come late. */
const BLIND_EVERY_SECONDS = 600;

export function createItemCounter({ rules, query }: ItemCounterOptions): ItemCounter {
  const facts = markFacts(rules);
  let codes: readonly CodeBits[] = [];
  let frontier: Frontier | null = null;
  const blind = new Map<string, { readonly at: number; readonly added: Parameters<AddOrders>[] }>();

  async function learnCodes(asOf: number): Promise<void> {
    const from = asOf - REACH_SECONDS;
    const found = await query<{ code: string }>(codesSince(from));
    codes =
      found.length === 0
        ? []
        : await query<CodeBits>(
            codeBitsSql(
              facts,
              found.map(({ code }) => code),
              from,
            ),
          );
  }

  async function loadFrontier(): Promise<Frontier> {
    const [row] = await query<{ from: number; to: number; known_us: number }>(frontierSql(facts));
    return row === undefined ? NO_FRONTIER : { from: row.from, to: row.to, knownUs: row.known_us };
  }

  async function countAll(
    some: readonly CountingRule[],
    ends: readonly GatewayEnd[],
    asOf: number,
    add: AddOrders,
  ): Promise<void> {
    if (some.length === 0 || ends.length === 0) return;
    frontier ??= await loadFrontier();
    if (codes.length === 0) await learnCodes(asOf);
    for (let attempt = 0; ; attempt += 1) {
      const { sql, take } = itemCounting(some, { facts, codes, frontier }, ends, asOf);
      const rows = await query<ItemCountRow>(sql);
      const added: Parameters<AddOrders>[] = [];
      const isComplete = take(rows, (...one) => void added.push(one));
      if (isComplete || attempt > 0) {
        for (const one of added) add(...one);
        return;
      }
      await learnCodes(asOf);
    }
  }

  async function countBlind(
    some: readonly CountingRule[],
    end: GatewayEnd,
    asOf: number,
    add: AddOrders,
  ): Promise<void> {
    const key = JSON.stringify([end, some.map(({ name }) => name)]);
    const known = blind.get(key);
    const fresh = { at: asOf, added: [] as Parameters<AddOrders>[] };
    if (known === undefined || asOf - known.at >= BLIND_EVERY_SECONDS) {
      await countAll(some, [end], asOf, (...one) => void fresh.added.push(one));
      for (const other of blind.keys()) if (other.includes(JSON.stringify(end.gateway))) blind.delete(other);
      blind.set(key, fresh);
    }
    for (const one of blind.get(key)?.added ?? []) add(...one);
  }

  return {
    async count(asked, ends, asOf, add) {
      const ours = asked.filter(countsItems);
      // Long windows are read from other marks.
      const groups = [
        ours.filter(({ group }) => group !== 'slow'),
        ours.filter(({ group }) => group === 'slow'),
      ];
      const isBlind = ({ lateEnd }: GatewayEnd): boolean => asOf - lateEnd > BLIND_SECONDS;
      for (const group of groups) {
        await countAll(
          group,
          ends.filter((end) => !isBlind(end)),
          asOf,
          add,
        );
        for (const end of ends.filter(isBlind)) await countBlind(group, end, asOf, add);
      }
    },
    async keep(asOf, command) {
      frontier ??= await loadFrontier();
      const next = nextFrontier(frontier, asOf);
      if (next === null) return;
      // A pass has seen all codes of what is old enough to be kept.
      if (codes.length === 0) await learnCodes(asOf);
      for (const statement of keepMarks({ facts, codes, frontier }, next)) await command(statement);
      frontier = next;
    },
  };
}

/** How far marks go after the next call; null when nothing is to be done. Backwards a stretch at a time. */
export function nextFrontier(frontier: Frontier, asOf: number): Frontier | null {
  const round = (seconds: number): number => Math.floor(seconds / KEEP_EVERY_SECONDS) * KEEP_EVERY_SECONDS;
  const to = round(asOf - KEPT_AFTER_SECONDS);
  const knownUs = (asOf - OBSERVED_AFTER_SECONDS) * 1e6;
  const oldest = to - REACH_SECONDS;
  // After a long rest, what lies between is too much at once: it begins anew.
  const isNear = frontier.to > to - MOST_AT_ONCE_SECONDS;
  if (!isNear) return { from: to - MOST_AT_ONCE_SECONDS, to, knownUs };
  if (frontier.to < to) return { from: frontier.from, to, knownUs: Math.max(knownUs, frontier.knownUs) };
  if (frontier.from > oldest)
    return {
      from: Math.max(oldest, frontier.from - MOST_AT_ONCE_SECONDS),
      to: frontier.to,
      knownUs: frontier.knownUs,
    };
  return null;
}
