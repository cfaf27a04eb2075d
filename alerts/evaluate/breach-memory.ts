import { sqlText, view } from '../../schemas/measures.ts';
import type { Evaluation } from './evaluation.ts';

/** A slice is still evaluated for so long after its last breach, so that its alert ends like any other. */
const FOLLOWED_SECONDS = 3_600;
/** What stood for a symptom goes on doing so if it was in breach within this time. */
const LEADS_SECONDS = 900;

type Place = Pick<Evaluation, 'rule' | 'gateway' | 'label'>;
/** One symptom; label null: that of any label. */
type Symptom = Omit<Place, 'label'> & { readonly label: string | null };

/** Which slices were in breach lately, as an evaluation needs it. */
export interface BreachMemory {
  /** The slices of a symptom that are evaluated though they may not be in breach. */
  readonly followed: (symptom: Symptom) => ReadonlySet<string>;
  /** The slice, or the whole, that raised the alert until now; null: none did lately. */
  readonly leadBefore: (symptom: Symptom) => string | null;
  /** The label of a slice's newest breach of some rules; null: there was none within the hour. */
  readonly labelBefore: (rules: readonly string[], gateway: string, slice: string) => string | null;
  /** Was a rule in breach at or after an instant, in one of these slices, under any label? */
  readonly wasInBreach: (rule: string, gateway: string, slices: readonly string[], since: number) => boolean;
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
      const of = ({ rule, gateway, label }: Symptom): readonly Breach[] =>
        breaches.filter(
          (one) => one.rule === rule && one.gateway === gateway && (label === null || one.label === label),
        );
      return {
        followed: (symptom) => new Set(of(symptom).map(({ slice }) => slice)),
        leadBefore: (symptom) =>
          newestOf(of(symptom).filter(({ at }) => at > asOf - LEADS_SECONDS))?.slice ?? null,
        labelBefore(rules, gateway, slice) {
          const own = breaches.filter((one) => one.gateway === gateway && one.slice === slice);
          return newestOf(own.filter(({ rule }) => rules.includes(rule)))?.label ?? null;
        },
        wasInBreach: (rule, gateway, slices, since) =>
          breaches.some(
            (one) =>
              one.rule === rule && one.gateway === gateway && slices.includes(one.slice) && one.at >= since,
          ),
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

const newestOf = (some: readonly Breach[]): Breach | undefined => some.toSorted((a, b) => b.at - a.at)[0];
const keyOf = ({ rule, gateway, label }: Place): string => `${rule}|${gateway}|${label}`;
const sliceKey = (one: Place & { readonly slice: string }): string => `${keyOf(one)}|${one.slice}`;

/** SELECT of the breaches of the hour before an instant. */
const storedSql = (
  asOf: number,
): string => `SELECT rule, gateway, label, slice, toUnixTimestamp(max(as_of)) AS at
FROM ${view('alertEvaluations')}
WHERE kind = ${sqlText('share')} AND breach = 1 AND as_of > toDateTime(${asOf - FOLLOWED_SECONDS}, 'UTC') AND as_of < toDateTime(${asOf}, 'UTC')
GROUP BY rule, gateway, label, slice`;
