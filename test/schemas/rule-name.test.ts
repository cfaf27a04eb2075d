import { expect, it } from 'vitest';
import { RULES } from '../../alerts/rules/all.ts';
import { ALERT_RULES } from '../../schemas/names.ts';
import { noSuchRule, readRuleName } from '../../schemas/rule-name.ts';

it('a rule is named with or without the prefix, by its uid, and in any case', () => {
  for (const text of ['GatewatchTechTimeouts', 'TechTimeouts', 'techtimeouts', 'gatewatch-tech-timeouts'])
    expect(readRuleName(text)).toBe('GatewatchTechTimeouts');
  for (const { name, uid } of RULES) {
    expect(readRuleName(name.replace('Gatewatch', ''))).toBe(name);
    expect(ALERT_RULES).toContain(readRuleName(name));
    expect(uid.length).toBeGreaterThan(0);
  }
  for (const text of ['Tech', '', 'Gatewatch', 'TechTimeout']) expect(readRuleName(text)).toBeNull();
});

it('a name that no rule has is answered with those that resemble it', () => {
  expect(noSuchRule('Timeouts')).toContain('GatewatchTechTimeouts');
  expect(noSuchRule('xyz')).toBe('no rule is called xyz. "gatewatch alerts" lists all');
});
