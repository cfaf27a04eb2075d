import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ruleGroups } from '../../../alerts/grafana/grafana-rule.ts';
import { provisioningFile } from '../../../alerts/grafana/provisioning.ts';
import { runbookLinks, RUNBOOKS_DIR as RUNBOOKS } from '../../../alerts/grafana/runbooks.ts';
import { RULES } from '../../../alerts/rules/all.ts';

describe('runbooks', () => {
  it('say which windows their rule looks at, and how few orders it takes', () => {
    const span = (seconds: number): string => {
      const [count, unit] =
        seconds % 86_400 === 0
          ? [seconds / 86_400, 'day']
          : seconds % 3600 === 0
            ? [seconds / 3600, 'hour']
            : [seconds / 60, 'minute'];
      return `${count} ${unit}${count === 1 ? '' : 's'}`;
    };
    for (const rule of RULES) {
      if (rule.kind !== 'share') continue;
      const text = readFileSync(join(RUNBOOKS, `${rule.name}.md`), 'utf8');
      const [, line = ''] = /\n(It looks .*)\n/.exec(text) ?? [];
      for (const { windowSeconds } of rule.condition.windows)
        expect(`${rule.name}: ${line}`).toContain(span(windowSeconds));
      const { minimumAffectedOrders: least } = rule.condition;
      expect(`${rule.name}: ${line}`).toContain(`${least} affected order${least === 1 ? '' : 's'}`);
    }
  });

  it('are opened elsewhere when it is said where they are kept', () => {
    const file = provisioningFile(ruleGroups(RULES), runbookLinks('https://git.example/runbooks/'));
    expect(file).toContain('runbook_url: https://git.example/runbooks/GatewatchTechTimeouts.md\n');
  });

  it('belong to rules, and every rule has one', () => {
    expect(readdirSync(RUNBOOKS).toSorted()).toEqual(RULES.map(({ name }) => `${name}.md`).toSorted());
  });

  it.each(readdirSync(RUNBOOKS))('%s begins with its own name and says what to do first', (name) => {
    const text = readFileSync(join(RUNBOOKS, name), 'utf8');
    expect(text).toMatch(new RegExp(`^# ${name.replace('.md', '')}\n`));
    for (const heading of ['What it says', 'Whose side', 'First three steps', 'Queries', 'When it is over'])
      expect(text).toContain(`\n## ${heading}\n`);
  });
});
