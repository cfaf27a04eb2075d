import type { TableResult } from '../../store/store.ts';
import type { ProvisionedRule } from './rule-file.ts';

/** Queries of one rule that can be asked as one: equal but for the expression of their value. */
export interface JoinedQuery {
  /** One SELECT with a value column for each member; macros still in it. */
  readonly sql: string;
  /** The rule's own texts. */
  readonly members: readonly string[];
  /** Of the members' nodes: seconds before the evaluation instant, and the bucket's width. */
  readonly range: { readonly from: number; readonly to: number; readonly intervalMs: number };
}

/** Where the value's expression lies: `head expression AS value tail`. */
interface Parts {
  readonly head: string;
  readonly expression: string;
  readonly tail: string;
}

/** Name of a member's value in the joined result. */
const valueName = (index: number): string => `value_${index}`;

/** Joins what can be joined; a query of any other shape stays alone. Nothing is asked twice. */
export function joinQueries(rule: ProvisionedRule): JoinedQuery[] {
  const groups = new Map<string, { parts: Parts | null; members: string[]; range: JoinedQuery['range'] }>();
  for (const { model, relativeTimeRange } of rule.data) {
    if (!('rawSql' in model)) continue;
    const range = { ...relativeTimeRange, intervalMs: model.intervalMs };
    const parts = splitValue(model.rawSql);
    const key = JSON.stringify([range, parts === null ? model.rawSql : [parts.head, parts.tail]]);
    const group = groups.get(key) ?? { parts, members: [], range };
    if (!group.members.includes(model.rawSql)) group.members.push(model.rawSql);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ parts, members, range }) => {
    if (parts === null || members.length === 1) return { sql: members[0] ?? '', members, range };
    const values = members.map(
      (member, index) => `${splitValue(member)?.expression ?? ''} AS ${valueName(index)}`,
    );
    return { sql: `${parts.head}${values.join(', ')}${parts.tail}`, members, range };
  });
}

/** A member's own result out of the joined one. */
export function splitResult(result: TableResult, index: number, members: number): TableResult {
  if (members === 1) return result;
  const own = valueName(index);
  const others = new Set(Array.from({ length: members }, (_, n) => valueName(n)));
  others.delete(own);
  const keep = (name: string): boolean => !others.has(name);
  const rename = (name: string): string => (name === own ? 'value' : name);
  return {
    meta: (result.meta ?? [])
      .filter(({ name }) => keep(name))
      .map(({ name, type }) => ({ name: rename(name), type })),
    data: result.data.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([name]) => keep(name))
          .map(([name, cell]) => [rename(name), cell]),
      ),
    ),
  };
}

/**
 * Finds the value column of the outermost SELECT: the text between the comma before it and ` AS value`. Null
 * when the query has another shape, or its value is not the last column, or a later clause names it.
 */
function splitValue(sql: string): Parts | null {
  const marks = topLevelMarks(sql);
  if (marks === null) return null;
  const end = sql.indexOf(' AS value', marks.comma);
  if (end === -1 || end > marks.from) return null;
  const after = end + ' AS value'.length;
  const tail = sql.slice(after);
  if (!tail.trimStart().startsWith('FROM') || /\bvalue\b/.test(sql.slice(Math.max(after, marks.tailFrom))))
    return null;
  return {
    head: sql.slice(0, marks.comma + 1) + ' ',
    expression: sql.slice(marks.comma + 1, end).trim(),
    tail,
  };
}

/** The last comma outside parentheses between the last outermost SELECT and its FROM. */
function topLevelMarks(sql: string): { comma: number; from: number; tailFrom: number } | null {
  let depth = 0;
  let select = -1;
  let comma = -1;
  let from = -1;
  let lastClose = 0;
  for (let at = 0; at < sql.length; at++) {
    const char = sql[at];
    if (char === "'") {
      at = endOfString(sql, at);
      if (at === -1) return null;
    } else if (char === '-' && sql[at + 1] === '-') return null;
    else if (char === '/' && sql[at + 1] === '*') return null;
    else if (char === '(' || char === '[') depth++;
    else if (char === ')' || char === ']') {
      depth--;
      lastClose = at;
    } else if (depth > 0) continue;
    else if (char === ',' && select !== -1 && from === -1) comma = at;
    else if (wordAt(sql, at, 'SELECT')) {
      if (select !== -1) return null;
      select = at;
    } else if (wordAt(sql, at, 'UNION')) return null;
    else if (wordAt(sql, at, 'FROM') && select !== -1 && from === -1) from = at;
  }
  return comma === -1 || from === -1 ? null : { comma, from, tailFrom: lastClose };
}

function endOfString(sql: string, open: number): number {
  for (let at = open + 1; at < sql.length; at++) {
    if (sql[at] === '\\') at++;
    else if (sql[at] === "'") return at;
  }
  return -1;
}

const wordAt = (sql: string, at: number, word: string): boolean =>
  sql.startsWith(word, at) && !/\w/.test(sql[at - 1] ?? '') && !/\w/.test(sql[at + word.length] ?? '');
