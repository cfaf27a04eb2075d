import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFunctionRules } from '../../../../store/embedded/reader/function-rules.ts';
import { judgeText, judgeTree } from '../../../../store/embedded/reader/judge.ts';
import type { JudgedFile, JudgedStatement } from './judged.ts';

const FILE = path.join(import.meta.dirname, 'out/judged.json');
const { catalog, statements } = JSON.parse(readFileSync(FILE, 'utf8')) as JudgedFile;
const rules = createFunctionRules({
  functions: new Map(Object.entries(catalog.functions)),
  tableFunctions: new Set(catalog.tableFunctions),
});
const groups = [...Map.groupBy(statements, ({ group }) => group)];

describe("the judge, on the engine's own texts and trees", () => {
  it.each(groups)('says of each text what was seen to be right: %s', (_group, all) => {
    for (const { canonical, text } of all)
      expect({ canonical, text: judgeText(canonical, rules) }).toEqual({ canonical, text });
  });

  it.each(groups)('says of each tree what was seen to be right: %s', (_group, all) => {
    for (const { sql, ast, database, tree } of all) {
      const now = ast === null ? null : judgeTree(ast, database, rules);
      expect({ sql, tree: now }).toEqual({ sql, tree });
    }
  });

  it('lets pass what people and programs ask', () => {
    const asked = statements.filter(({ group }) => group === 'allowed' || group === 'harmless');
    expect(asked.filter((one) => !passes(one)).map(({ sql }) => sql)).toEqual([]);
  });

  it('refuses every attack in its text or in its tree, but for those on names that the engine does not have', () => {
    const attacks = statements.filter(({ group }) => group === 'refused' || group.startsWith('attacks'));
    const passed = attacks.filter((one) => one.group !== 'attacks: misread' && passes(one));
    expect(passed.map(({ sql }) => sql)).toEqual([
      "SELECT arrayMap(system.file, ['/etc/passwd'])",
      'WITH `/etc/passwd` AS x SELECT * FROM x',
      'SELECT * FROM gatewatch.`.inner.x`',
    ]);
  });
});

const passes = ({ text, tree }: JudgedStatement): boolean => !('refused' in text) && tree === null;
