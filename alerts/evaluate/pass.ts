import { createHash } from 'node:crypto';
import { EVERY_RULE } from '../count/calendar.ts';
import {
  type Clocks,
  clocksSql,
  type ClocksRow,
  endOf,
  endsOf,
  gaugesSql,
  LATENESS_EVERY_SECONDS,
  latenessSql,
  readClocks,
  settingOf,
  type SettingOverrides,
  type WindowEnds,
} from '../count/clocks.ts';
import type { OrderCounts } from '../count/order-counts.ts';
import { WHOLE } from '../count/slices.ts';
import { type ActivityRow, hasBaseline, hasSlices, usualShare, usualTraffic } from '../count/usual.ts';
import { lengthsOf } from '../count/windows.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { type CountingRule, type GaugeRule, isAskedDirectly, type Rule } from '../rules/rule.ts';
import type { Evaluation, EvaluationPass } from './evaluation.ts';
import { judgeDrop, NOTHING_USUAL } from './judge-drop.ts';
import { type BreachMemory, createBreaches } from './breach-memory.ts';
import { judgeShare, type Verdict, type WindowCounts } from './judge-share.ts';
import { leadOf, suppressedBy } from './judge-slices.ts';
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
    const gateways = ends.map(({ gateway }) => gateway).toSorted();
    const usual = await countUsual(asked.filter(isCounting), gateways, asOf, clocks.calendars);
    const numbers = await readGauges(
      asked.filter((rule) => rule.kind === 'gauge'),
      asOf,
    );
    const judged = asked.flatMap((rule) =>
      rule.kind === 'gauge'
        ? judgeGauge(rule, numbers.get(rule.name) ?? [], clocks, asOf)
        : judgeOrders(rule, ends, { counts, usual, clocks, asOf, memory }),
    );
    const evaluations = withSuppression(judged, asked);
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

type Judged = Omit<Evaluation, 'evaluated_at' | 'evaluator' | 'took_ms'>;

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

/** What the rules that count orders are judged by at one instant. */
interface Counted {
  readonly counts: OrderCounts;
  /** By rule: what is usual. */
  readonly usual: ReadonlyMap<string, readonly ActivityRow[]>;
  readonly clocks: Clocks;
  readonly asOf: number;
  readonly memory: BreachMemory;
}

function judgeOrders(rule: CountingRule, ends: readonly WindowEnds[], counted: Counted): Judged[] {
  const usual = Map.groupBy(counted.usual.get(rule.name) ?? [], activityKey);
  return ends.flatMap((end) =>
    rule.count.counts.flatMap(({ label }) => judgeSymptom(rule, label, end, counted, usual)),
  );
}

const activityKey = ({ gateway, slice, label }: Pick<ActivityRow, 'gateway' | 'slice' | 'label'>): string =>
  `${gateway}|${slice}|${label}`;

/** One rule at one gateway under one label: the whole gateway, and its slices where they matter. */
function judgeSymptom(
  rule: CountingRule,
  label: string,
  ends: WindowEnds,
  { counts, clocks, asOf, memory }: Counted,
  usual: ReadonlyMap<string, readonly ActivityRow[]>,
): Judged[] {
  const { gateway } = ends;
  const windowEnd = endOf(rule, ends, asOf);
  const isOff = isSwitchedOff(rule, gateway, label, clocks);
  const setting = (name: string, otherwise: number): number =>
    settingOf(clocks, rule.name, gateway, name, otherwise);
  const rowsOf = (slice: string) => usual.get(activityKey({ gateway, slice, label }));
  const countsOf = (slice: string) => counts.of({ rule: rule.name, gateway, slice, label });
  const longest = Math.max(...lengthsOf(rule));
  const all = countsOf(WHOLE).seen(longest);
  // A slice that all orders are in says what the whole says.
  const slices =
    hasSlices(rule) && !isOff
      ? counts.slicesOf(gateway).filter((slice) => countsOf(slice).seen(longest) < all)
      : [];
  const judge = (slice: string, own = countsOf(slice)): Verdict =>
    verdictOf(rule, own, [rowsOf(slice), rowsOf(WHOLE)], setting, slice === WHOLE ? 1 : slices.length);
  const verdicts = [WHOLE, ...slices].map((slice) => ({ slice, verdict: judge(slice) }));
  const place = { rule: rule.name, gateway, label };
  const lead = leadOf({
    verdicts: verdicts.map(({ slice, verdict }) => ({
      slice,
      holds: verdict.holds,
      strength: strengthOf(verdict),
    })),
    before: memory.leadBefore(place),
    holdsWithout: (slice) => judge(WHOLE, without(countsOf(WHOLE), countsOf(slice))).holds,
  });
  const followed = memory.followed(place);
  return verdicts
    .filter(({ slice, verdict }) => slice === WHOLE || verdict.holds || followed.has(slice))
    .map(({ slice, verdict }) => {
      const { seen, affected, expected, limit, holds } = verdict;
      const base = rule.kind === 'drop' ? (expected ?? 0) : seen;
      const cause = holds ? suppressedBy(slice, lead) : '';
      const own = breachOf(rule, holds && cause === '', gateway, label, clocks);
      return {
        ...identity(rule, gateway, label, asOf, clocks),
        slice,
        window_from: (windowEnd - verdict.windowSeconds) * 1e6,
        window_to: windowEnd * 1e6,
        seen,
        affected,
        expected,
        limit,
        share: base > 0 ? affected / base : null,
        number: null,
        ...own,
        suppressed_by: cause === '' ? own.suppressed_by : cause,
      };
    });
}

/**
 * How much a slice explains: the affected orders beyond what is usual, times the share that they are of it. A
 * wider slice has no more of them and a smaller share, a narrower one has fewer.
 */
const strengthOf = ({ seen, affected, expected }: Verdict): number =>
  seen === 0 ? 0 : (affected - (expected ?? 0)) ** 2 / seen;

const without = (all: WindowCounts, some: WindowCounts): WindowCounts => ({
  seen: (seconds) => all.seen(seconds) - some.seen(seconds),
  hit: (seconds) => all.hit(seconds) - some.hit(seconds),
});

function verdictOf(
  rule: CountingRule,
  counts: WindowCounts,
  [own, whole]: readonly [readonly ActivityRow[] | undefined, readonly ActivityRow[] | undefined],
  setting: (name: string, otherwise: number) => number,
  comparisons: number,
): Verdict {
  if (rule.kind === 'share') {
    // A slice that is too small or too new to know it by is compared with the whole gateway.
    const usual =
      rule.condition.baseline === undefined ? null : (usualShare(own ?? []) ?? usualShare(whole ?? []));
    const settings = {
      shareAbove: setting('shareAbove', rule.condition.shareAbove),
      minimumAffectedOrders: setting('minimumAffectedOrders', rule.condition.minimumAffectedOrders),
    };
    return judgeShare(rule, counts, usual, settings, comparisons);
  }
  return judgeDrop(rule, counts, own === undefined ? NOTHING_USUAL : usualTraffic(own), {
    below: setting('below', rule.condition.below),
    minimumExpectedOrders: setting('minimumExpectedOrders', rule.condition.minimumExpectedOrders),
  });
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

function identity(rule: Rule, gateway: string, label: string, asOf: number, clocks: Clocks) {
  return {
    rule: rule.name,
    kind: rule.kind,
    gateway,
    slice: WHOLE,
    label,
    as_of: asOf * 1e6,
    definition: definitionOf(rule, gateway, clocks),
  };
}

const SETTINGS_IN_WORDS = 'settings';

/** Does it hold, and is the rule switched on for the gateway and label? */
function breachOf(rule: Rule, holds: boolean, gateway: string, label: string, clocks: Clocks) {
  const isOff = isSwitchedOff(rule, gateway, label, clocks);
  return { breach: holds && !isOff ? 1 : 0, suppressed_by: holds && isOff ? SETTINGS_IN_WORDS : '' };
}

function isSwitchedOff(rule: Rule, gateway: string, label: string, clocks: Clocks): boolean {
  const ofRule = settingOf(clocks, rule.name, gateway, 'enabled', rule.offByDefault === true ? 0 : 1);
  return settingOf(clocks, rule.name, gateway, `enabled/${label}`, ofRule) === 0;
}

/** A rule is silent for a gateway while the rule that names the cause is in breach there, under any label. */
function withSuppression(judged: readonly Judged[], rules: readonly Rule[]): Judged[] {
  const causes = new Map(rules.map(({ name, suppressedBy }) => [name as string, suppressedBy]));
  const inBreach = new Set(
    judged.flatMap(({ rule, gateway, breach }) => (breach === 1 ? [`${rule}|${gateway}`] : [])),
  );
  return judged.map((one) => {
    const cause = causes.get(one.rule);
    if (one.breach === 0 || cause === undefined || !inBreach.has(`${cause}|${one.gateway}`)) return one;
    return { ...one, breach: 0, suppressed_by: cause };
  });
}

/** Fingerprint of what the rule says and of what is set for it. */
function definitionOf(rule: Rule, gateway: string, { settings }: Clocks): string {
  // The calendar is set for all rules, and says something to those that compare with other days.
  const of: string[] = [rule.name, ...(isCounting(rule) && hasBaseline(rule) ? [EVERY_RULE] : [])];
  const own = [...settings]
    .filter(([key]) => of.some((name) => key.startsWith(`${name}|${gateway}|`)))
    .toSorted();
  return createHash('sha256')
    .update(JSON.stringify([rule, own]))
    .digest('hex')
    .slice(0, 16);
}
