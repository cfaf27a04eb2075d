import { RECOVERY } from '../rules/conditions.ts';
import type { ShareCondition, ShareRule } from '../rules/rule.ts';
import { shareBaseline } from './baseline.ts';
import type { Knob } from './rule-settings.ts';
import { countsByWindow, epoch, lengthsOf } from './windows.ts';

/**
 * SELECT of gateway, label, seen, affected, limit and window_from. `silent`: conditions under which it must
 * not fire.
 */
export function shareBody(rule: ShareRule, silent: readonly string[], knob: Knob): string {
  const { condition, count } = rule;
  const lengths = lengthsOf(rule);
  const place = (seconds: number): number => lengths.indexOf(seconds) + 1;
  const usual = condition.baseline === undefined ? null : shareBaseline(rule);
  const places = condition.windows.map(({ windowSeconds }) => place(windowSeconds));
  const confirms = condition.windows.map(({ confirmSeconds }) =>
    confirmSeconds === undefined ? 0 : place(confirmSeconds),
  );
  // A window with a share of its own scales with the gateway's.
  const scales = condition.windows.map(({ shareAbove = condition.shareAbove }) =>
    shareAbove === condition.shareAbove ? 1 : Number((shareAbove / condition.shareAbove).toPrecision(12)),
  );
  const scaled = scales.some((scale) => scale !== 1);
  const p = scaled ? 'least(1, k * p)' : 'p';
  const each = (text: string): string => (scaled ? text : '');
  const ks = each(`, [${scales.join(', ')}]`);
  const recovered = `arrayFirstIndex((n, a) -> n >= ${RECOVERY.enoughOrders} AND a <= ${recoveredShare(p, condition)} * n, seen_in, hit_in)`;
  const back = scaled ? 'r' : 'recovered';
  const known = `usual.samples >= ${MINIMUM_SAMPLES}`;
  const share = knob('shareAbove', condition.shareAbove);
  const quiet = silent.map((reason) => ` AND NOT (${reason})`).join('');
  return `SELECT gateway, label, ${epoch('ends_at')} - [${condition.windows.map(({ windowSeconds }) => windowSeconds).join(', ')}][chosen] AS window_from,
    arrayMap(i -> seen_in[i], [${places.join(', ')}]) AS seen_on, arrayMap(i -> hit_in[i], [${places.join(', ')}]) AS hit_on,
    arrayMap((n${each(', k')}) -> ${limitOrders('n', p, condition)}, seen_on${ks}) AS limits,
    ${scaled ? `arrayMap(k -> ${recovered}, [${scales.join(', ')}])` : recovered} AS recovered,
    arrayMap((a, l, c, i${each(', k, r')}) -> a >= l AND (c = 0 OR hit_in[c] > ${p} * seen_in[c]) AND (${back} = 0 OR ${back} >= i), hit_on, limits, [${confirms.join(', ')}], [${places.join(', ')}]${ks}${each(', recovered')}) AS holds,
    indexOf(holds, 1) AS held, arrayFirstIndex(n -> n >= ${RECOVERY.enoughOrders}, seen_on) AS enough,
    multiIf(held > 0, held, enough > 0, enough, ${places.length}) AS chosen,
    seen_on[chosen] AS seen, hit_on[chosen] AS affected,
    if(held > 0${quiet}, limits[chosen], greatest(limits[chosen], affected + 1)) AS limit
  FROM
  (
    SELECT *, ${usual === null ? share : `if(${known}, usual.usual_share, ${share})`} AS p, ${knob('minimumAffectedOrders', condition.minimumAffectedOrders)} AS minimum${usual === null ? '' : `, if(${known}, usual.spread, 0) AS spread`}
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

/**
 * How many affected orders out of n are beyond chance when the share is p: the lower Wilson bound of a/n lies
 * above p exactly when a exceeds n p + z sqrt(n p (1 - p)). `spread` adds how much the share itself varies
 * from hour to hour.
 */
function limitOrders(n: string, p: string, { z, baseline }: ShareCondition): string {
  const variance = `${n} * ${p} * (1 - ${p})${baseline === undefined ? '' : ` + pow(${n} * spread, 2)`}`;
  const beyond = `${n} * ${p} + ${z} * sqrt(${variance})`;
  if (baseline === undefined) return `greatest(minimum, floor(${beyond}) + 1)`;
  // Counts of few orders have a longer tail upwards than the normal curve: the third term of Cornish and
  // Fisher.
  const tail = `${Number(((z ** 2 - 1) / 6).toPrecision(9))} * (1 - 2 * ${p})`;
  return `greatest(minimum, floor(${beyond} + ${tail}) + 1, floor(${n} * (${p} + ${baseline.rise})) + 1)`;
}

/** A window whose share is no higher shows that it is over. */
const recoveredShare = (p: string, { baseline }: ShareCondition): string =>
  baseline === undefined ? p : `(${p} + ${RECOVERY.wayBack * baseline.rise})`;
