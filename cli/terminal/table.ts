import { stripVTControlCharacters } from 'node:util';
import type { Output } from './host.ts';

export interface TableOptions {
  readonly headers: readonly string[];
  /** Cells may be painted; they must be printable. */
  readonly rows: readonly (readonly string[])[];
  /** Columns whose cells stand at the right edge. @default none */
  readonly rightAligned?: ReadonlySet<number>;
  /** Put before every line. @default '' */
  readonly indent?: string;
}

/** Aligned columns without lines around them: easy on the eye, and on `awk`. Ends with a line end. */
export function drawTable(output: Output, options: TableOptions): string {
  const { headers, rows, rightAligned, indent = '' } = options;
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...rows.map((row) => visibleLength(row[column] ?? ''))),
  );
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, column) => {
      const gap = ' '.repeat((widths[column] ?? 0) - visibleLength(cell));
      return rightAligned?.has(column) === true ? gap + cell : cell + gap;
    });
    return (indent + padded.join('  ')).trimEnd();
  };
  const head = line(headers.map((header) => output.paint('dim', header)));
  return [head, ...rows.map(line)].join('\n') + '\n';
}

function visibleLength(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}
