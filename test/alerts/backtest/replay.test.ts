import { describe, expect, it } from 'vitest';
import { comparedOf, headlineOf, nearest, nearness, valuesText } from '../../../alerts/backtest/headline.ts';
import { createReplay } from '../../../alerts/backtest/replay.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { evaluation, ruleNamed } from '../support/evaluations.ts';
import { MINUTE } from '../traffic.ts';

const share = ruleNamed('GatewatchTechTimeouts', { pendingSeconds: 60, keepFiringSeconds: 120 });
const drop = RULES.find(({ kind }) => kind === 'drop') ?? expect.fail('no rule for drops');
const gauge = ruleNamed('GatewatchPictureBehind');

describe('a replay', () => {
  it('follows each alert from the first evaluation that holds to the one that ends it', () => {
    const replaying = createReplay(share, MINUTE);
    for (const [minute, breach] of [0, 1, 1, 1, 0, 0, 0, 0, 1].entries())
      replaying.add(minute * MINUTE, [evaluation(share, minute * MINUTE, { breach })]);
    const { instances } = replaying.replay();
    expect(instances).toMatchObject([{ labels: { gateway: 'acme-eu', stage: 'CHECK' } }]);
    expect(instances[0]?.episodes).toMatchObject([
      { pendingAtMs: MINUTE, firedAtMs: 2 * MINUTE, resolvedAtMs: 6 * MINUTE, values: { affected: 12 } },
      { pendingAtMs: 8 * MINUTE, firedAtMs: null, resolvedAtMs: null },
    ]);
  });

  it('ends the alert of a series that is missing for three evaluations', () => {
    const replaying = createReplay(share, MINUTE);
    for (let minute = 0; minute < 8; minute += 1)
      replaying.add(minute * MINUTE, minute < 3 ? [evaluation(share, minute * MINUTE, { breach: 1 })] : []);
    const [instance] = replaying.replay().instances;
    expect(instance?.episodes).toMatchObject([{ firedAtMs: MINUTE, resolvedAtMs: 5 * MINUTE }]);
    expect(instance?.compared.slice(0, 4)).toEqual([
      ...Array.from({ length: 3 }, () => ({ value: 12, limit: 9 })),
      null,
    ]);
  });
});

describe('what is compared', () => {
  const values = { affected: 4, seen: 4, limit: 8, expected: 20, share: 0.2, number: 130, as_of: 1 };

  it('follows from the kind of the rule', () => {
    expect(headlineOf(share)).toEqual({ value: 'affected', fires: 'above' });
    expect(headlineOf(drop)).toEqual({ value: 'affected', fires: 'below' });
    expect(headlineOf(gauge)).toEqual({ value: 'number', fires: 'above' });
    expect(comparedOf(share, values)).toEqual({ value: 4, limit: 8 });
    expect(comparedOf(gauge, values)).toEqual({ value: 130, limit: 8 });
    expect(comparedOf(gauge, { ...values, number: null })).toBeNull();
  });

  it('is nearest to firing at the limit, from either side', () => {
    expect(nearness({ value: 4, limit: 8 }, headlineOf(share))).toBe(0.5);
    expect(nearness({ value: 16, limit: 8 }, headlineOf(drop))).toBe(0.5);
    expect(nearness({ value: 0, limit: -1 }, headlineOf(drop))).toBe(0);
    const compared = [{ value: 1, limit: 8 }, null, { value: 4, limit: 8 }, { value: 2, limit: 8 }];
    expect(nearest(compared, headlineOf(share), 4, 2)).toEqual([compared[0], compared[2]]);
  });

  it('is shown with what belongs to it', () => {
    expect(valuesText(share, values)).toBe('affected 4, limit 8, seen 4, share 0.2, expected 20');
    expect(valuesText(drop, values)).toBe('seen 4, limit 8, expected 20, share 0.2');
    expect(valuesText(gauge, values)).toBe('number 130, limit 8');
  });
});
