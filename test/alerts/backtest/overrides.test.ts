import { describe, expect, it } from 'vitest';
import { limitsOf, parseOverride, type Trial, trialsOf } from '../../../alerts/backtest/overrides.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { ruleNamed } from '../support/evaluations.ts';

const share = ruleNamed('GatewatchTechTimeouts');
const drop = RULES.find(({ kind }) => kind === 'drop') ?? expect.fail('no rule for drops');
const gauge = ruleNamed('GatewatchPictureBehind');
const set = (...changes: string[]): Trial =>
  trialsOf(['TechTimeouts'], changes)[0] ?? expect.fail('no such rule');

describe('what a backtest tries', () => {
  it('are all rules but those that watch whether rules are evaluated', () => {
    const names = new Set(trialsOf([], []).map(({ rule }) => rule.name));
    expect(RULES.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([
      'GatewatchEvaluationsLate',
      'GatewatchHeartbeat',
    ]);
    expect(() => trialsOf(['Heartbeat'], [])).toThrow('there is no rule Heartbeat to replay; there are Gate');
  });

  it('knows the limits of a rule by its kind', () => {
    expect(Object.keys(limitsOf(share))).toEqual(['shareAbove', 'minimumAffectedOrders']);
    expect(Object.keys(limitsOf(drop))).toEqual(['below', 'minimumExpectedOrders']);
    expect(Object.keys(limitsOf(gauge))).toEqual(['above']);
  });

  it('changes the limits and times that are named, and nothing else', () => {
    expect(set('TechTimeouts.minimumAffectedOrders=3')).toEqual({
      rule: share,
      limits: { minimumAffectedOrders: 3 },
    });
    expect(set('TechTimeouts.threshold=0.2', 'TechTimeouts.for=5m', 'TechTimeouts.keepFiringFor=0')).toEqual({
      rule: { ...share, pendingSeconds: 300, keepFiringSeconds: 0 },
      limits: { shareAbove: 0.2 },
    });
  });

  it('refuses what a rule does not have, and says what it has', () => {
    expect(() => set('TechTimeouts.share=0.2')).toThrow(
      /GatewatchTechTimeouts has no share to set; it has shareAbove \([\d.]+\), minimumAffectedOrders \(\d+\), for \(\d+s\), keepFiringFor \(\d+s\)/,
    );
    expect(() => set('TechTimeouts.for=ten')).toThrow('a duration like 5m');
    expect(() => set('TechTimeouts.threshold=much')).toThrow('expected a number');
    expect(() => set('ApprovalDrop.for=5m')).toThrow(
      'ApprovalDrop is not among the rules that are evaluated',
    );
    expect(() => set('TechTimeouts=3')).toThrow('expected RULE.NAME=VALUE');
    expect(parseOverride('TechTimeouts=3')).toBeNull();
  });
});
