import { areTooMany, type CodeBits, codeBitsSql, codesSql, since } from '../count/code-bits.ts';
import {
  type AddOrders,
  type CountingRule,
  countsItems,
  farthestOf,
  type GatewayEnd,
  type ItemCountRow,
  itemCounting,
  readsLongMarks,
} from '../count/item-counts.ts';
import { markFacts } from '../count/item-facts.ts';
import {
  type Frontier,
  frontierSql,
  isToKeep,
  keepMarks,
  type MarkSource,
  NO_FRONTIER,
} from '../count/marks.ts';
import { MARKS_KEPT_HOURS } from '../count/tables.ts';

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
  /** Keeps the marks of what has become old by `asOf`, a few hours of them at most. True: there is more. */
  readonly keep: (asOf: number, command: (sql: string) => Promise<void>) => Promise<boolean>;
}

/** Marks are kept of items that are this old, observed this long ago: rows are stored within that time. */
const KEPT_AFTER_SECONDS = 1_200;
const OBSERVED_AFTER_SECONDS = 900;
const KEEP_EVERY_SECONDS = 300;
/** How far back marks reach; and how much of that one call makes, since much history may be there. */
const REACH_SECONDS = 74 * 3_600;
const MOST_AT_ONCE_SECONDS = 6 * 3_600;
/**
 * How long marks are sure to be there: a little less than the store keeps them. A gateway whose windows reach
 * further back, since it was not heard for long, is counted apart and from the items.
 */
const THERE_SECONDS = {
  short: (MARKS_KEPT_HOURS.short - 0.5) * 3_600,
  long: (MARKS_KEPT_HOURS.long - 2) * 3_600,
};
/** How often such a gateway is counted anew though its windows stand still: something may come late. */
const BLIND_EVERY_SECONDS = 600;
/** When there were too many codes to look up, it is seen this much later whether there still are. */
const CODES_AGAIN_SECONDS = 3_600;

export function createItemCounter({ rules, query }: ItemCounterOptions): ItemCounter {
  const facts = markFacts(rules);
  /** Null: too many to look up. */
  let codes: readonly CodeBits[] | null = [];
  let learnedAt = -Infinity;
  let frontier: Frontier | null = null;
  const blind = new Map<string, { readonly at: number; readonly added: Parameters<AddOrders>[] }>();

  async function learnCodes(asOf: number): Promise<void> {
    // What is kept begins at most an hour before what passes reach.
    const where = since(asOf - REACH_SECONDS - 3_600);
    const found = (await query<{ code: string }>(codesSql(where))).map(({ code }) => code);
    learnedAt = asOf;
    if (areTooMany(found)) codes = null;
    else codes = found.length === 0 ? [] : await query<CodeBits>(codeBitsSql(facts, found, where));
  }

  /** For whoever knows none yet, and again where there were too many. */
  async function learnFirst(asOf: number): Promise<void> {
    if (codes === null ? asOf - learnedAt >= CODES_AGAIN_SECONDS : codes.length === 0) await learnCodes(asOf);
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
    kept: Pick<MarkSource, 'frontier' | 'gateways'>,
  ): Promise<void> {
    await learnFirst(asOf);
    for (let attempt = 0; ; attempt += 1) {
      const { sql, take } = itemCounting(some, { facts, codes, ...kept }, ends, asOf);
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
      const fromItems = { frontier: NO_FRONTIER, gateways: [end.gateway] };
      await countAll(some, [end], asOf, (...one) => void fresh.added.push(one), fromItems);
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
      for (const group of groups.filter(({ length }) => length > 0)) {
        const seen = ends.filter((end) => !isBlind(end, group, asOf));
        frontier ??= await loadFrontier();
        if (seen.length > 0) await countAll(group, seen, asOf, add, { frontier });
        for (const end of ends.filter((end) => isBlind(end, group, asOf)))
          await countBlind(group, end, asOf, add);
      }
    },
    async keep(asOf, command) {
      frontier ??= await loadFrontier();
      const next = nextFrontier(frontier, asOf);
      if (next === null) return false;
      await learnFirst(asOf);
      const found = await query<{ code: string }>(codesSql(isToKeep(frontier, next)));
      // A pass need not have seen them: of a gateway that is behind it counts nothing new.
      const known = new Set(codes?.map(({ code }) => code));
      if (codes !== null && found.some(({ code }) => !known.has(code))) await learnCodes(asOf);
      for (const statement of keepMarks({ facts, codes, frontier }, next)) await command(statement);
      frontier = next;
      return nextFrontier(next, asOf) !== null;
    },
  };
}

/** Does a gateway need marks for these rules that may be gone? */
function isBlind({ lateEnd }: GatewayEnd, rules: readonly CountingRule[], asOf: number): boolean {
  const reach = farthestOf(rules);
  return asOf - (lateEnd - reach) > THERE_SECONDS[readsLongMarks(reach) ? 'long' : 'short'];
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
