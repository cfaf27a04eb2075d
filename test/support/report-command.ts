import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** A program that ends with a report: attacks, mutation tests. */
export interface ReportCommand<N extends string> {
  readonly usage: string;
  /** Options that take a whole number. */
  readonly numbers: Readonly<Record<N, { readonly default: number; readonly least: number }>>;
  /** Options that take nothing. @default none */
  readonly flags?: readonly string[];
  /** Does it take arguments besides its options? @default false */
  readonly takesNames?: boolean;
  /** Resolves with the report; `usage`: the arguments make no sense; null: it could not run to its end. */
  run(given: Given<N>): Promise<Result | 'usage' | null>;
}

export interface Given<N extends string> {
  readonly numbers: Readonly<Record<N, number>>;
  readonly flags: ReadonlySet<string>;
  readonly names: readonly string[];
  /** The file of `--json`. */
  readonly reportFile: string | undefined;
  readonly say: (text: string) => void;
}

export interface Result {
  readonly passed: boolean;
  readonly report: object;
}

/**
 * Reads the options, runs, and writes the report to stdout and to the file of `--json`. The exit code: 0 when
 * it passed, 1 when it did not, 2 for options that make no sense.
 */
export async function runReportCommand<N extends string>(
  command: ReportCommand<N>,
  args: readonly string[],
): Promise<number> {
  const { usage, flags = [], takesNames = false } = command;
  const numbers = Object.entries(command.numbers) as [N, { default: number; least: number }][];
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: takesNames,
    options: {
      ...Object.fromEntries(
        numbers.map(([name, one]) => [name, { type: 'string', default: `${one.default}` }]),
      ),
      ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean', default: false }])),
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    } as Record<string, { type: 'string' | 'boolean'; default?: string | boolean }>,
  });
  const isWrong = ([name, { least }]: (typeof numbers)[number]) =>
    !Number.isInteger(Number(values[name])) || Number(values[name]) < least;
  const reportFile = values['json'] as string | undefined;
  const startedAt = new Date().toISOString();
  const result =
    values['help'] === true || numbers.some(isWrong)
      ? 'usage'
      : await command.run({
          numbers: Object.fromEntries(numbers.map(([name]) => [name, Number(values[name])])) as Record<
            N,
            number
          >,
          flags: new Set(flags.filter((name) => values[name] === true)),
          names: positionals,
          reportFile,
          say: (text) => void process.stderr.write(`${text}\n`),
        });
  if (result === 'usage') {
    process.stderr.write(`${usage}\n`);
    return values['help'] === true ? 0 : 2;
  }
  if (result === null) return 1;
  const verdict = result.passed ? 'passed' : 'failed';
  const whole = { verdict, startedAt, node: process.version, ...result.report };
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  process.stdout.write(text);
  if (reportFile !== undefined) {
    mkdirSync(path.dirname(path.resolve(reportFile)), { recursive: true });
    writeFileSync(reportFile, text);
  }
  return result.passed ? 0 : 1;
}
