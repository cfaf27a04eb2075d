/**
 * Asks the engine for its own text and tree of each statement in statements-to-judge.ts and writes them to
 * out/judged.json, with what the judge says to them: so the judge's tests need no engine.
 *
 *   node test/store/embedded/reader/generate-judged.ts [--check]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadChdb } from '../../../../store/embedded/chdb-library.ts';
import { readCatalog } from '../../../../store/embedded/reader/function-rules.ts';
import {
  createFunctionRules,
  type FunctionCatalog,
} from '../../../../store/embedded/reader/function-rules.ts';
import { PARSER_SETTINGS } from '../../../../store/embedded/reader/policy-server.ts';
import { formatStatement } from '../../../../store/embedded/sql/format.ts';
import { judgeBoth, type JudgedFile, type JudgedStatement } from './judged.ts';
import { TO_JUDGE } from './statements-to-judge.ts';

const FILE = path.join(import.meta.dirname, 'out/judged.json');

/** Keeps the catalog's entries that were asked for: the whole has thousands. */
function remembering(catalog: FunctionCatalog): {
  asked: FunctionCatalog;
  used: () => JudgedFile['catalog'];
} {
  const [functions, tableFunctions] = [new Map<string, string>(), new Set<string>()];
  const all = (name: string): string | undefined => {
    if (catalog.tableFunctions.has(name)) tableFunctions.add(name);
    const meant = catalog.functions.get(name);
    if (meant !== undefined) functions.set(name, meant);
    return meant;
  };
  const asked = {
    functions: Object.assign(new Map<string, string>(), {
      get: all,
      has: (name: string) => all(name) !== undefined,
    }),
    tableFunctions: Object.assign(new Set<string>(), {
      has: (name: string) => catalog.tableFunctions.has(name),
    }),
  };
  const used = () => ({
    functions: Object.fromEntries([...functions].sort()),
    tableFunctions: [...tableFunctions].sort(),
  });
  return { asked, used };
}

async function generate(folder: string): Promise<string> {
  const session = (await loadChdb()).openSession(folder, []);
  const ask = async (sql: string): Promise<string> => (await session.query(sql, 'TSVRaw')).text();
  for (const [name, value] of Object.entries(PARSER_SETTINGS)) await ask(`SET ${name} = ${value}`);
  const { asked, used } = remembering(await readCatalog(session));
  const rules = createFunctionRules(asked);
  const statements: JudgedStatement[] = [];
  for (const { group, database, statements: texts } of TO_JUDGE) {
    for (const sql of texts) {
      const line = await ask(formatStatement(sql)).catch(() => null);
      // What the parser refuses never comes to the judge.
      if (line === null) continue;
      const canonical = line.replace(/\n$/, '');
      const tree = async (text: string) => ask(`EXPLAIN AST ${text}`).catch(() => null);
      statements.push({
        group,
        sql,
        database,
        canonical,
        ...(await judgeBoth(canonical, tree, database, rules)),
      });
    }
  }
  const version = (await ask('SELECT version()')).trim();
  await session.close();
  return `${JSON.stringify({ version, catalog: used(), statements } satisfies JudgedFile, null, 1)}\n`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-judged-'));
const text = await generate(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('out/judged.json is not what the engine and the judge say now.');
  process.exitCode = 1;
}
