/**
 * Expansion of Grafana's macros and variables in SQL, as the ClickHouse plugin and Grafana's frontend do it,
 * so that the generated panels and rules can be run without Grafana: those that they use. Other macros stay
 * as they are and fail as SQL.
 */

export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

export interface MacroContext extends TimeRange {
  /** Width of a bucket. The plugin rounds it down to whole seconds, at least one. */
  readonly intervalMs: number;
}

/** A variable's chosen values; `all` when the choice is "All". */
export type VariableValues = Readonly<Record<string, readonly string[] | 'all'>>;

/** The backend's pass: macros of the plugin. Times are cut to whole seconds, as `time.Unix()` does. */
export function expandMacros(sql: string, context: MacroContext): string {
  const macros = macrosFor(context);
  let out = '';
  let at = 0;
  for (const match of sql.matchAll(/\$__(\w+)/g)) {
    const name = match[1] ?? '';
    const macro: Macro | undefined = Object.hasOwn(macros, name) ? macros[name] : undefined;
    if (macro === undefined || match.index < at) continue;
    const end = match.index + match[0].length;
    if (macro.length === 0) {
      out += sql.slice(at, match.index) + macro();
      at = end;
      continue;
    }
    const close = closingParenthesis(sql, end);
    if (close === -1) continue;
    const args = splitArguments(sql.slice(end + 1, close)).map((arg) => expandMacros(arg, context));
    out += sql.slice(at, match.index) + macro(...args);
    at = close + 1;
  }
  return out + sql.slice(at);
}

type Macro = (...args: string[]) => string;

const seconds = (date: Date): string => `toDateTime(${Math.floor(date.getTime() / 1000)})`;

function macrosFor({ from, to, intervalMs }: MacroContext): Record<string, Macro> {
  const bucketSeconds = Math.max(Math.floor(intervalMs / 1000), 1);
  return {
    fromTime: () => seconds(from),
    toTime: () => seconds(to),
    interval_s: () => String(bucketSeconds),
    timeFilter: (column: string) => `${column} >= ${seconds(from)} AND ${column} <= ${seconds(to)}`,
    timeInterval: (column: string) =>
      `toStartOfInterval(toDateTime(${column}), INTERVAL ${bucketSeconds} second)`,
  };
}

/**
 * The frontend's pass, for panels only: `$__conditionalAll(condition, $name)` becomes `1=1` when the variable
 * is "All", empty or not set, and `${name:singlequote}` the quoted list of its values.
 */
export function expandVariables(sql: string, values: VariableValues): string {
  const isAll = (name: string): boolean => {
    const chosen = values[name];
    return chosen === undefined || chosen === 'all' || chosen.every((value) => value === '');
  };
  let out = sql;
  for (let start = out.indexOf(CONDITIONAL); start !== -1; start = out.indexOf(CONDITIONAL, start)) {
    const open = start + CONDITIONAL.length - 1;
    const close = closingParenthesis(out, open);
    if (close === -1) break;
    const args = splitArguments(out.slice(open + 1, close));
    const name = (args.at(-1) ?? '').replace(/^\$\{?(\w+)\}?$/, '$1');
    const condition = isAll(name) ? '1=1' : args.slice(0, -1).join(', ');
    out = out.slice(0, start) + condition + out.slice(close + 1);
  }
  return out.replace(/\$\{(\w+):singlequote\}/g, (_, name: string) => {
    const chosen = values[name];
    return (chosen === undefined || chosen === 'all' ? [] : chosen).map(quote).join(',');
  });
}

const CONDITIONAL = '$__conditionalAll(';

/** Grafana escapes the quote only; we escape the backslash too, so that no value can end its literal. */
const quote = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * Index of the parenthesis that closes the one at `open`, or -1 when there is none. Quoted text is skipped.
 */
function closingParenthesis(sql: string, open: number): number {
  if (sql[open] !== '(') return -1;
  let depth = 0;
  let quoted = false;
  for (let i = open; i < sql.length; i++) {
    const char = sql[i];
    if (quoted) {
      if (char === '\\') i++;
      else if (char === "'") quoted = false;
    } else if (char === "'") quoted = true;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return i;
  }
  return -1;
}

/** Splits at commas outside parentheses and quotes, as the plugin's macro parser does. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "'") quoted = !quoted;
    else if (quoted) continue;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return [...parts, text.slice(from).trim()];
}
