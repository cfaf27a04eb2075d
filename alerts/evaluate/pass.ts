import {
  type Clocks,
  clocksSql,
  type ClocksRow,
  endsOf,
  gaugesSql,
  LATENESS_EVERY_SECONDS,
  latenessSql,
  readClocks,
  settingOf,
  type SettingOverrides,
} from '../count/clocks.ts';
import { WHOLE } from '../count/slices.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { type CountingRule, type GaugeRule, isAskedDirectly, type Rule } from '../rules/rule.ts';
import { type BreachMemory, createBreaches } from './breach-memory.ts';
import type { EvaluationPass } from './evaluation.ts';
import { judgeOrders } from './judge-orders.ts';
import { breachOf, identity, type Judged } from './judged.ts';
import { createOrderCounter } from './order-counter.ts';
import { createUsualCounter } from './usual-counter.ts';

export interface PassOptions {
  readonly rules: readonly Rule[];
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  /** Who evaluates. */
  readonly evaluator: string;
  readonly now: () => EpochMicros;
  readonly monotonicMs: () => number;
  /** @default what the configuration says */
  readonly overrides?: SettingOverrides;
  /** Settings by rule, gateway and name, with bars between, over those that are stored. @default none */
  readonly settings?: Clocks['settings'] | undefined;
}

/**
 * One evaluation of the rules: each source is read once, for all rules; what is usual and how late items come
 * is read now and then; and the rest is arithmetic. It remembers only what another process would read anew.
 */
export function createPass(options: PassOptions): EvaluationPass {
  const { query, evaluator, now, monotonicMs, overrides = {}, settings } = options;
  const rules = options.rules.filter((rule) => !isAskedDirectly(rule));
  const lateness = remembering(String, async (asOf: number) => {
    const rows = await query<{ gateway: string; late: number }>(latenessSql(asOf));
    return new Map(rows.map(({ gateway, late }) => [gateway, late]));
  });
  const countOrders = createOrderCounter(query);
  const breaches = createBreaches(query);
  const countUsual = createUsualCounter(rules.filter(isCounting), query);

  return async (asOfMs, groups) => {
    const started = monotonicMs();
    const asOf = asOfMs / 1000;
    const wanted = rules.filter(({ group = 'fast' }) => groups.includes(group));
    const suppressors = rules.filter(({ name }) => wanted.some((rule) => rule.suppressedBy === name));
    const asked = [...new Set([...wanted, ...suppressors])];
    const [row] = await query<ClocksRow>(clocksSql(asOf));
    const clocks = readClocks(row ?? { known: [], configured: [] }, overrides, settings);
    const needsLateness = asked.some((rule) => isCounting(rule) && rule.count.clock === 'late');
    const late = needsLateness
      ? await lateness(asOf - (asOf % LATENESS_EVERY_SECONDS))
      : new Map<string, number>();
    const ends = endsOf(clocks, late, asOf);
    const counts = await countOrders(asked.filter(isCounting), ends, clocks, asOf);
    const memory = await breaches.recall(asOf);
    const usual = await countUsual(asked.filter(isCounting), ends, asOf, clocks.calendars);
    const numbers = await readGauges(
      asked.filter((rule) => rule.kind === 'gauge'),
      asOf,
    );
    const judged = asked.flatMap((rule) =>
      rule.kind === 'gauge'
        ? judgeGauge(rule, numbers.get(rule.name) ?? [], clocks, asOf)
        : judgeOrders(rule, ends, { counts, usual, clocks, asOf, memory }),
    );
    const evaluations = withSuppression(judged, asked, memory);
    breaches.note(evaluations);
    const stamp = { evaluated_at: now(), evaluator, took_ms: monotonicMs() - started };
    return evaluations
      .filter(({ rule }) => wanted.some(({ name }) => name === rule))
      .map((evaluation) => ({ ...evaluation, ...stamp }));
  };

  async function readGauges(gauges: readonly GaugeRule[], asOf: number): Promise<Map<string, GaugeRow[]>> {
    if (gauges.length === 0) return new Map();
    return Map.groupBy(await query<GaugeRow>(gaugesSql(gauges, asOf)), ({ rule }) => rule);
  }
}

interface GaugeRow {
  readonly rule: string;
  readonly gateway: string;
  readonly label: string;
  readonly number: number;
}

const isCounting = (rule: Rule): rule is CountingRule => rule.kind !== 'gauge';

/** The last answer to a question. */
function remembering<Q, T>(keyOf: (question: Q) => string, ask: (question: Q) => Promise<T>) {
  let last: { readonly key: string; readonly answer: T } | null = null;
  return async (question: Q): Promise<T> => {
    const key = keyOf(question);
    if (last?.key !== key) last = { key, answer: await ask(question) };
    return last.answer;
  };
}

function judgeGauge(rule: GaugeRule, rows: readonly GaugeRow[], clocks: Clocks, asOf: number): Judged[] {
  return rows.map(({ gateway, label, number }) => {
    const limit = settingOf(clocks, rule.name, gateway, 'above', rule.above);
    return {
      ...identity(rule, gateway, label, asOf, clocks),
      window_from: asOf * 1e6,
      window_to: asOf * 1e6,
      seen: 0,
      affected: 0,
      expected: null,
      limit,
      share: null,
      number,
      ...breachOf(rule, number > limit, gateway, label, clocks),
    };
  });
}

/**
 * A rule is silent for a gateway while the rule that names the cause is in breach there, under any label, and
 * for as long as its window still holds what that one was about; for a slice also while that one is in breach
 * in the same slice. A cause in one slice silences nothing else.
 */
function withSuppression(
  judged: readonly Judged[],
  rules: readonly Rule[],
  { wasInBreach }: BreachMemory,
): Judged[] {
  const causes = new Map(rules.map(({ name, suppressedBy }) => [name as string, suppressedBy]));
  const keyOf = (rule: string, gateway: string, slice: string): string => `${rule}|${gateway}|${slice}`;
  const inBreach = new Set(
    judged
      .filter((one) => one.breach === 1 || isLedBySlice(one))
      .map(({ rule, gateway, slice }) => keyOf(rule, gateway, slice)),
  );
  return judged.map((one) => {
    const cause = causes.get(one.rule);
    if (one.breach === 0 || cause === undefined) return one;
    const slices = [WHOLE, one.slice];
    const isNamed =
      slices.some((slice) => inBreach.has(keyOf(cause, one.gateway, slice))) ||
      wasInBreach(cause, one.gateway, slices, one.window_from / 1e6);
    return isNamed ? { ...one, breach: 0, suppressed_by: cause } : one;
  });
}

/** The whole gateway is in breach, and a slice stands for it. */
const isLedBySlice = ({ slice, suppressed_by: cause }: Judged): boolean =>
  slice === WHOLE && cause.includes('=');
