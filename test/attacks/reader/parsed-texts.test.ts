import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadChdb } from '../../../store/embedded/chdb-library.ts';
import type { EngineSession } from '../../../store/embedded/engine.ts';
import { allowedFunctions } from '../../../store/embedded/reader/allowed-functions.ts';
import { createFunctionRules, readCatalog } from '../../../store/embedded/reader/function-rules.ts';
import { parsesText } from '../../../store/embedded/reader/parsed-arguments.ts';

/** Texts of which the engine complains in a way of its own as soon as it takes them for SQL. */
const TEXTS = [
  'groupConcat((SELECT a FROM swept))',
  '(SELECT a FROM swept)',
  'x -> (SELECT a FROM swept)',
  'Array(Int8',
];
const OTHERS = ["'a'", '1', "['a']"];
/** UNKNOWN_TABLE; syntax of a data type; unknown type. */
const COMPLAINTS = /^Code: (?:60\.|62\..*Syntax error \((?!line|query)|50\.)/;

describe('functions that take a text for SQL', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-swept-'));
  let session: EngineSession;
  beforeAll(async () => {
    session = (await loadChdb()).openSession(folder, []);
    await session.query('SET max_execution_time = 1, max_memory_usage = 200000000', 'TSV');
  });
  afterAll(async () => {
    await session.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const complains = async (call: string): Promise<boolean> => {
    try {
      await session.query(`SELECT ${call} FORMAT Null`, 'TSV');
      return false;
    } catch (error) {
      return COMPLAINTS.test((error as Error).message);
    }
  };

  it('are all on the list of those whose texts are judged', async () => {
    const rules = createFunctionRules(await readCatalog(session));
    const unlisted: string[] = [];
    for (const name of allowedFunctions.flatMap(({ names }) => names)) {
      if (parsesText(name, rules)) continue;
      for (const text of TEXTS)
        for (const call of callsOf(name, `'${text}'`)) if (await complains(call)) unlisted.push(call);
    }
    expect(unlisted).toEqual([]);
  }, 600_000);

  it('would be found: one of the list complains', async () => {
    expect(await complains("arrayReduce('groupConcat((SELECT a FROM swept))', ['a'])")).toBe(true);
    expect(await complains("CAST('a', 'Array(Int8')")).toBe(true);
  });
});

/** The text in each place among up to three arguments, beside values of three types. */
function callsOf(name: string, text: string): string[] {
  const beside = OTHERS.flatMap((other) => [
    `${text}, ${other}`,
    `${other}, ${text}`,
    `${text}, ${other}, ${other}`,
    `${other}, ${text}, ${other}`,
    `${other}, ${other}, ${text}`,
  ]);
  return [text, ...beside].map((values) => `${name}(${values})`);
}
