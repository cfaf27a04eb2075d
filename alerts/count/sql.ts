import { sqlText, view } from '../../schemas/measures.ts';
import { labelsOf, orderFacts, type OrderCount } from './order-count.ts';
import { dropBaseline, shareBaseline } from './baseline.ts';
import { RECOVERY } from '../rules/gates.ts';
import { limitOrders, ordersBelow, recoveredShare, stepLimits } from './limits.ts';
import { NOW, trailingScope, windowEnd, withClocks } from './scope.ts';
import type { DropRule, Rule, ShareRule } from '../rules/rule.ts';

/**
 * A rule as SQL. Each number of a rule is a query of its own, since Grafana takes one number a query; all of
 * them read the same body. Every gateway that is known has a row for every label, zeros included.
 */

/** The numbers of each kind of rule, by refId. */
export const RULE_VALUES = {
  share: {
    /** Orders hit. */
    affected: 'affected',
    /** Orders seen at the same place: n. */
    seen: 'seen',
    /** So many affected orders are an incident. Beyond `affected` while the rule must not fire. */
    limit: 'limit',
    /** Where the window begins, in seconds since 1970. */
    window_from: 'window_from',
  },
  drop: {
    /** Orders counted. */
    seen: 'seen',
    /** What the same hours of other weeks make one expect. */
    expected: 'expected',
    /** So few orders are an incident; -1: none are too few. */
    limit: 'limit',
    window_from: 'window_from',
  },
  gauge: {
    number: 'number',
    /** Above it, the number is too large. */
    limit: 'limit',
  },
} as const;
export type RuleValue<K extends Rule['kind'] = Rule['kind']> = keyof (typeof RULE_VALUES)[K] & string;

/** Where the windows end, in seconds since 1970: by gateway only, so that it joins every label. */
export function windowToSql(rule: ShareRule | DropRule): string {
  return `${withClocks(rule.count)}
SELECT arrayJoin(mapKeys(watermarks)) AS gateway, ${epoch(windowEnd(rule.count))} AS value`;
}

/** The evaluation instant, in seconds since 1970: without labels, it joins everything. */
export const asOfSql = (): string => `SELECT toFloat64(toUnixTimestamp(${NOW})) AS value`;

/** SQL of one number of a rule: the columns `gateway`, the rule's label if it has one, and `value`. */
export function ruleSql(rule: Rule, value: string, rules: readonly Rule[]): string {
  const label = rule.kind === 'gauge' ? rule.splitBy : rule.count.splitBy;
  const columns = `gateway${label === null ? '' : `, label AS ${label}`}`;
  if (rule.kind === 'gauge')
    return `WITH ${settingsOf(rule)}
SELECT ${columns}, toFloat64(${value}) AS value
FROM
(
  SELECT gateway, label, number, if(${disabled(rule)}, ${OUT_OF_REACH}, ${tunable('above', rule.above)}) AS limit
  FROM
  (
  ${rule.sql.replaceAll('as_of', NOW)}
  )
)
ORDER BY ALL`;
  const suppressor = rules.find(({ name }) => name === rule.suppressedBy);
  const silent = [...(suppressor === undefined ? [] : [suppressedGateways(suppressor)]), disabled(rule)];
  return `${withRule(rule, suppressor)}
SELECT ${columns}, toFloat64(${value}) AS value
FROM
(
  ${rule.kind === 'share' ? shareBody(rule, silent, tunable) : dropBody(rule, silent)}
)
ORDER BY ALL`;
}

const epoch = (time: string): string => `toUnixTimestamp64Micro(${time}) / 1000000`;

const withRule = (rule: ShareRule | DropRule, suppressor: Rule | undefined): string =>
  [
    withClocks(rule.count),
    settingsOf(rule),
    ...(suppressor === undefined ? [] : [settingsOf(suppressor, OTHERS)]),
  ].join(',\n  ');

/** A limit that no number exceeds. */
const OUT_OF_REACH = '1e15';

/** Names of a map of settings and of its lambda: the rule's own, and those of the rule that suppresses it. */
const OWN = { map: 'settings', lambda: 'setting' } as const;
const OTHERS = { map: 'others_settings', lambda: 'others' } as const;

/** What the configuration sets for the rule, as a map; and the lambda that looks a gateway's setting up. */
const settingsOf = (rule: Rule, { map, lambda }: typeof OWN | typeof OTHERS = OWN): string => `(
    SELECT mapFromArrays(groupArray(concat(gateway, '/', setting)), groupArray(value)) FROM ${view('alertSettings')} WHERE rule = ${sqlText(rule.name)}
  ) AS ${map},
  (g, name, otherwise) -> if(mapContains(${map}, concat(g, '/', name)), ${map}[concat(g, '/', name)], otherwise) AS ${lambda}`;

/** All window lengths of a rule, ascending; rungs and their confirming windows refer to them by place. */
function lengthsOf(rule: ShareRule | DropRule): number[] {
  const rungs: readonly { windowSeconds: number; confirmSeconds?: number }[] = rule.gate.rungs;
  const all = rungs.flatMap(({ windowSeconds, confirmSeconds }) => [
    windowSeconds,
    ...(confirmSeconds === undefined ? [] : [confirmSeconds]),
  ]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}

/**
 * SELECT of gateway, label, ends_at, seen_in and hit_in: orders by window length, in the order of `lengths`.
 * Little text on purpose: reading a long expression costs the engine more than counting does.
 */
function countsByWindow(count: OrderCount, lengths: readonly number[]): string {
  const windows = `[${lengths.join(', ')}]`;
  return `SELECT gateway, label, ${windowEnd(count)} AS ends_at, sumForEach(seen) AS seen_in, sumForEach(hit) AS hit_in
    FROM
    (
      SELECT gateway, fact.1 AS label, arrayMap(w -> toFloat64(fact.2 >= ends_at - toIntervalSecond(w)), ${windows}) AS seen, arrayMap(w -> toFloat64(fact.3 >= ends_at - toIntervalSecond(w)), ${windows}) AS hit
      FROM
      (
        SELECT gateway, facts, ${windowEnd(count)} AS ends_at
        FROM
        (
          ${orderFacts([{ count }], trailingScope(count, Math.max(...lengths)))}
        )
      )
      ARRAY JOIN facts AS fact
      UNION ALL
      SELECT arrayJoin(mapKeys(watermarks)) AS gateway, arrayJoin([${labelsOf(count).map(sqlText).join(', ')}]) AS label, arrayMap(_ -> 0., ${windows}) AS seen, seen AS hit
    )
    GROUP BY gateway, label`;
}

/** A number that the configuration can set for a gateway: of the rule, or of the one that suppresses it. */
type Knob = (name: string, otherwise: number) => string;
const tunable: Knob = (name, otherwise) => `${OWN.lambda}(gateway, ${sqlText(name)}, ${otherwise})`;
const tunableOther: Knob = (name, otherwise) => `${OTHERS.lambda}(gateway, ${sqlText(name)}, ${otherwise})`;

/**
 * SELECT of gateway, label, seen, affected, limit and window_from. `silent`: conditions under which it must
 * not fire.
 */
function shareBody(rule: ShareRule, silent: readonly string[], knob: Knob): string {
  const { gate, count } = rule;
  const lengths = lengthsOf(rule);
  const place = (seconds: number): number => lengths.indexOf(seconds) + 1;
  const usual = gate.baseline === undefined ? null : shareBaseline(rule);
  const places = gate.rungs.map(({ windowSeconds }) => place(windowSeconds));
  const confirms = gate.rungs.map(({ confirmSeconds }) =>
    confirmSeconds === undefined ? 0 : place(confirmSeconds),
  );
  // A rung with a share of its own scales with the gateway's.
  const scales = gate.rungs.map(({ shareAbove = gate.shareAbove }) =>
    shareAbove === gate.shareAbove ? 1 : Number((shareAbove / gate.shareAbove).toPrecision(12)),
  );
  const scaled = scales.some((scale) => scale !== 1);
  const p = scaled ? 'least(1, k * p)' : 'p';
  const each = (text: string): string => (scaled ? text : '');
  const ks = each(`, [${scales.join(', ')}]`);
  const recovered = `arrayFirstIndex((n, a) -> n >= ${RECOVERY.enoughOrders} AND a <= ${recoveredShare(p, gate)} * n, seen_in, hit_in)`;
  const back = scaled ? 'r' : 'recovered';
  const known = `usual.samples >= ${MINIMUM_SAMPLES}`;
  const share = knob('shareAbove', gate.shareAbove);
  const quiet = silent.map((condition) => ` AND NOT (${condition})`).join('');
  return `SELECT gateway, label, ${epoch('ends_at')} - [${gate.rungs.map(({ windowSeconds }) => windowSeconds).join(', ')}][rung] AS window_from,
    arrayMap(i -> seen_in[i], [${places.join(', ')}]) AS seen_on, arrayMap(i -> hit_in[i], [${places.join(', ')}]) AS hit_on,
    arrayMap((n${each(', k')}) -> ${limitOrders('n', p, gate)}, seen_on${ks}) AS limits,
    ${scaled ? `arrayMap(k -> ${recovered}, [${scales.join(', ')}])` : recovered} AS recovered,
    arrayMap((a, l, c, i${each(', k, r')}) -> a >= l AND (c = 0 OR hit_in[c] > ${p} * seen_in[c]) AND (${back} = 0 OR ${back} >= i), hit_on, limits, [${confirms.join(', ')}], [${places.join(', ')}]${ks}${each(', recovered')}) AS holds,
    indexOf(holds, 1) AS held, arrayFirstIndex(n -> n >= ${RECOVERY.enoughOrders}, seen_on) AS enough,
    multiIf(held > 0, held, enough > 0, enough, ${places.length}) AS rung,
    seen_on[rung] AS seen, hit_on[rung] AS affected,
    if(held > 0${quiet}, limits[rung], greatest(limits[rung], affected + 1)) AS limit
  FROM
  (
    SELECT *, ${usual === null ? share : `if(${known}, usual.usual_share, ${share})`} AS p, ${knob('minimumAffectedOrders', gate.minimumAffectedOrders)} AS minimum${usual === null ? '' : `, if(${known}, usual.spread, 0) AS spread`}
    FROM
    (
    ${countsByWindow(count, lengths)}
    ) AS counted${
      usual === null
        ? ''
        : `
    LEFT JOIN
    (
    ${usual}
    ) AS usual USING (gateway, label)`
    }
  )`;
}

/** Hours of other weeks that a baseline needs, at least. */
const MINIMUM_SAMPLES = 4;

/** SELECT of gateway, label, seen, expected, limit and window_from. */
function dropBody(rule: DropRule, silent: readonly string[]): string {
  const { gate, count } = rule;
  const lengths = lengthsOf(rule);
  const quiet = silent.map((condition) => ` AND NOT (${condition})`).join('');
  // On the square root's scale a Poisson count has the same spread at every volume.
  return `SELECT gateway, label, ${epoch('ends_at')} - [${lengths.join(', ')}][rung] AS window_from,
    arrayMap((e, w) -> 2 * sqrt(e + 0.375) - ${gate.z} * sqrt(1 + (pow(noise, 2) - 1) * w / 900), expected_in, [${lengths.join(', ')}]) AS low_roots,
    arrayMap(r -> ${ordersBelow('r')}, low_roots) AS unusual, arrayMap(e -> 2 * sqrt(e + 0.375) - ${gate.z}, expected_in) AS chance_roots,
    arrayMap((e, u, c) -> if(e < minimum, -1., least(floor(below * e), greatest(u, least(floor(${gate.certainBelow} * e), ${ordersBelow('c')})))), expected_in, unusual, chance_roots) AS ${gate.step === undefined ? 'limits' : 'by_weeks'},
    ${
      gate.step === undefined
        ? ''
        : `${stepLimits(gate, gate.step, lengths)} AS limits,
    `
    }arrayFirstIndex((n, e) -> e >= ${RECOVERY.enoughOrders} AND n > (below + ${RECOVERY.wayBack} * (1 - below)) * e, seen_in, expected_in) AS recovered,
    arrayMap((n, low, i) -> n <= low AND (recovered = 0 OR recovered >= i), seen_in, limits, arrayEnumerate(limits)) AS holds,
    indexOf(holds, 1) AS held, arrayFirstIndex(e -> e >= minimum, expected_in) AS enough,
    multiIf(held > 0, held, enough > 0, enough, ${lengths.length}) AS rung,
    seen_in[rung] AS seen, expected_in[rung] AS expected,
    if(held > 0${quiet}, limits[rung], least(limits[rung], seen - 1)) AS limit
  FROM
  (
    SELECT gateway, label, ends_at, seen_in, if(empty(usual.expected_of), arrayMap(_ -> 0., seen_in), usual.expected_of) AS expected_in, greatest(1, usual.noise) AS noise,${
      gate.step === undefined
        ? ''
        : `
      if(empty(usual.following_of), arrayMap(_ -> 0., seen_in), usual.following_of) AS following_in, greatest(1, usual.hour) AS hour,`
    }
      ${tunable('below', gate.below)} AS below, ${tunable('minimumExpectedOrders', gate.minimumExpectedOrders)} AS minimum
    FROM
    (
      ${countsByWindow(count, lengths)}
    ) AS counted
    LEFT JOIN
    (
      ${dropBaseline(rule, lengths)}
    ) AS usual USING (gateway, label)
  )`;
}

/** Condition: the settings switch the rule off, or do not switch it on. */
function disabled(rule: Rule, { lambda }: typeof OWN | typeof OTHERS = OWN): string {
  const normally = rule.offByDefault === true ? 0 : 1;
  return `${lambda}(gateway, concat('enabled/', label), ${lambda}(gateway, 'enabled', ${normally})) = 0`;
}

/** Condition: the other rule fires for the gateway, under any label, as it is configured. */
function suppressedGateways(other: Rule): string {
  if (other.kind !== 'share') throw new Error(`${other.name} cannot suppress: it is not a share`);
  return `gateway IN (SELECT gateway FROM (${shareBody(other, [disabled(other, OTHERS)], tunableOther)}) WHERE affected >= limit)`;
}
