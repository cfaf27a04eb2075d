import type { FunctionRules } from '../../../../store/embedded/reader/function-rules.ts';
import { judgeText, judgeTree, type Judged } from '../../../../store/embedded/reader/judge.ts';

/** A statement, the engine's own text and tree of it, and what the judge says to both. */
export interface JudgedStatement {
  readonly group: string;
  readonly sql: string;
  readonly database: string | null;
  readonly canonical: string;
  readonly text: Judged;
  /** Of the whole canonical text where that was refused: the second judge must not need the first. */
  readonly ast: string | null;
  readonly tree: string | null;
}

export interface JudgedFile {
  /** The engine's. */
  readonly version: string;
  readonly catalog: {
    readonly functions: Readonly<Record<string, string>>;
    readonly tableFunctions: readonly string[];
  };
  readonly statements: readonly JudgedStatement[];
}

export async function judgeBoth(
  canonical: string,
  astOf: (sql: string) => Promise<string | null>,
  database: string | null,
  rules: FunctionRules,
): Promise<Pick<JudgedStatement, 'text' | 'ast' | 'tree'>> {
  const text = judgeText(canonical, rules);
  const ast = await astOf('refused' in text ? canonical : text.treeSql);
  return { text, ast, tree: ast === null ? null : judgeTree(ast, database, rules) };
}
