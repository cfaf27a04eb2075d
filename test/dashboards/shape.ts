import type { TableResult } from '../../store/store.ts';

const NUMBER = /^(Nullable\()?(U?Int|Float|Decimal)/;
const TEXT = /^(LowCardinality\()?(Nullable\()?(String|Enum)/;
const TIME = /^(Nullable\()?DateTime/;

/** What the traces panel reads of a result, by name. */
const TRACE_COLUMNS = [
  'traceID',
  'spanID',
  'parentSpanID',
  'serviceName',
  'operationName',
  'startTime',
  'duration',
  'tags',
  'serviceTags',
  'kind',
  'statusCode',
  'statusMessage',
  'logs',
  'references',
];

/** Epoch milliseconds of a ClickHouse time, which has no zone. */
export const utc = (text: unknown): number => Date.parse(`${String(text).replace(' ', 'T')}Z`);

const is =
  (shapes: readonly RegExp[]) =>
  (type: string): boolean =>
    shapes.some((shape) => shape.test(type));

/** Where a result differs from what the plugin makes frames of: nothing when it is right. */
export function shapeProblems(format: 0 | 1 | 3 | 'variable', { meta = [], data }: TableResult): string[] {
  const types = meta.map(({ type }) => type);
  const problems: string[] = [];
  const need = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(`${problem}: ${types.join(', ')}`);
  };
  if (format === 'variable') {
    need(types.length === 1 && types.every(is([TEXT])), 'a variable is one column of text');
    return problems;
  }
  if (format === 3) {
    need(
      JSON.stringify(meta.map(({ name }) => name)) === JSON.stringify(TRACE_COLUMNS),
      'a trace has the columns that the panel reads',
    );
    return problems;
  }
  if (format === 1) {
    need(types.every(is([TEXT, NUMBER, TIME])), 'a table has texts, numbers and times only');
    return problems;
  }
  const [first = '', ...others] = types;
  need(/^DateTime(\(|$)/.test(first), 'a series begins with its time');
  need(others.every(is([TEXT, NUMBER])), 'a series has texts and numbers beside its time');
  need(others.some(is([NUMBER])), 'a series has a number');
  const times = data.map((row) => utc(row[meta[0]?.name ?? '']));
  need(
    times.every((time, n) => n === 0 || time >= (times[n - 1] ?? 0)),
    'times ascend',
  );
  const names = meta.filter(({ type }) => !NUMBER.test(type)).map(({ name }) => name);
  const keys = data.map((row) => names.map((name) => row[name]).join('|'));
  need(new Set(keys).size === keys.length, 'a series has one row per time');
  return problems;
}
