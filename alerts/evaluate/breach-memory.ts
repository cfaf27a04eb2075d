import { sqlText, view } from '../../schemas/measures.ts';
import type { Evaluation } from './evaluation.ts';

/** A slice is still evaluated for so long after its last breach, so that its alert ends like any other. */
const FOLLOWED_SECONDS = 3_600;
/** What stood for a symptom goes on doing so if it was in breach within this time. */
const LEADS_SECONDS = 900;

type Place = Pick<Evaluation, 'rule' | 'gateway' | 'label'>;

/** Which slices were in breach lately, as an evaluation needs it. */
export interface BreachMemory {
  /** The slices of a symptom that are evaluated though they may not be in breach. */
  readonly followed: (place: Place) => ReadonlySet<string>;
  /** The slice, or the whole, that raised the alert until now; null: none did lately. */
  readonly leadBefore: (place: Place) => string | null;
  /** The label of the newest breach of some rules at a gateway; null: there was none within the hour. */
  readonly labelBefore: (rules: readonly string[], gateway: string) => string | null;
}

interface Breach extends Place {
  readonly slice: string;
  readonly at: number;
}

/**
 * Remembers what evaluations of this process found, and asks the store for what was before. In seconds since
 * 1970.
 *
 * @param query runs one SELECT
 */
export function createBreaches(query: <T>(sql: string) => Promise<T[]>) {
  let last: { readonly asOf: number; readonly breaches: readonly Breach[] } | null = null;

  async function before(asOf: number): Promise<readonly Breach[]> {
    const isNext = last !== null && asOf > last.asOf && asOf - last.asOf <= LEADS_SECONDS;
    if (last !== null && isNext) return last.breaches.filter(({ at }) => at > asOf - FOLLOWED_SECONDS);
    return query<Breach>(storedSql(asOf));
  }

  return {
    async recall(asOf: number): Promise<BreachMemory> {
      const breaches = await before(asOf);
      last = { asOf, breaches };
      const of = (place: Place): readonly Breach[] => breaches.filter((one) => keyOf(one) === keyOf(place));
      return {
        followed: (place) => new Set(of(place).map(({ slice }) => slice)),
        leadBefore: (place) =>
          of(place)
            .filter(({ at }) => at > asOf - LEADS_SECONDS)
            .toSorted((a, b) => b.at - a.at)[0]?.slice ?? null,
        labelBefore: (rules, gateway) =>
          breaches
            .filter((one) => rules.includes(one.rule) && one.gateway === gateway)
            .toSorted((a, b) => b.at - a.at)[0]?.label ?? null,
      };
    },
    /** Takes in what was found at the instant that was recalled. */
    note(evaluations: readonly Omit<Evaluation, 'evaluated_at' | 'evaluator' | 'took_ms'>[]): void {
      if (last === null) return;
      const { asOf, breaches } = last;
      const found = evaluations.filter(({ breach, kind }) => breach === 1 && kind === 'share');
      const keys = new Set(found.map(sliceKey));
      last = {
        asOf,
        breaches: [
          ...breaches.filter((one) => !keys.has(sliceKey(one))),
          ...found.map(({ rule, gateway, label, slice }) => ({ rule, gateway, label, slice, at: asOf })),
        ],
      };
    },
  };
}

const keyOf = ({ rule, gateway, label }: Place): string => `${rule}|${gateway}|${label}`;
const sliceKey = (one: Place & { readonly slice: string }): string => `${keyOf(one)}|${one.slice}`;

/** SELECT of the breaches of the hour before an instant. */
const storedSql = (
  asOf: number,
): string => `SELECT rule, gateway, label, slice, toUnixTimestamp(max(as_of)) AS at
FROM ${view('alertEvaluations')}
WHERE kind = ${sqlText('share')} AND breach = 1 AND as_of > toDateTime(${asOf - FOLLOWED_SECONDS}, 'UTC') AND as_of < toDateTime(${asOf}, 'UTC')
GROUP BY rule, gateway, label, slice`;
