import { readFileSync } from 'node:fs';
import { splitStatements } from '../../store/sql/statements.ts';
import { VIEW_FILES } from '../../store/package-files.ts';

/** One column of a public view, as the reference shows it. */
export interface ColumnDoc {
  readonly name: string;
  /** ClickHouse type without LowCardinality; `Time` stands for DateTime64(6, 'UTC'). */
  readonly type: string;
  /** Meaning, with the unit where there is one. */
  readonly text: string;
}

export interface ViewDoc {
  readonly name: string;
  /** What one row is. */
  readonly grain: string;
  readonly notes: readonly string[];
  readonly columns: readonly ColumnDoc[];
}

/** `name Type COMMENT 'text'`, one line each: what the engine shows as the column's comment. */
const COLUMN = /^ {4}`?([\w.]+)`? (.+) COMMENT '((?:[^']|'')*)',?$/gm;

/**
 * What the definitions of the public views say of themselves: grain and notes in the comment before each,
 * columns in its list. Views that are called with arguments have no list: see called-view-docs.ts.
 */
export function readViewDocs(): readonly ViewDoc[] {
  const statements = VIEW_FILES.flatMap((file) => splitStatements(readFileSync(file, 'utf8')));
  return statements.flatMap((statement) => {
    const name = /^CREATE OR REPLACE VIEW (\w+)\n\(\n/m.exec(statement)?.[1];
    return name === undefined ? [] : [{ name, ...headOf(statement), columns: columnsOf(statement) }];
  });
}

function headOf(statement: string): Pick<ViewDoc, 'grain' | 'notes'> {
  // A line that is indented goes on with what the line before it began.
  const text = statement
    .slice(0, statement.indexOf('\nCREATE'))
    .replaceAll(/\n-- {1,3}(?!One row|[\s-])/g, ' ');
  const grain = /^-- One row: (.*)\.$/m.exec(text)?.[1] ?? '';
  return { grain, notes: Array.from(text.matchAll(/^-- - (.*)$/gm), ([, note = '']) => note) };
}

const columnsOf = (statement: string): ColumnDoc[] =>
  Array.from(statement.matchAll(COLUMN), ([, name = '', type = '', text = '']) => ({
    name,
    type: documentedType(type),
    text: text.replaceAll("''", "'").replaceAll('\\\\', '\\'),
  }));

/** The engine's type as the reference writes it: without storage details. */
export function documentedType(type: string): string {
  return (
    type
      .replace(/^SimpleAggregateFunction\(\w+, (.*)\)$/, '$1')
      .replace(/LowCardinality\(((?:[^()]|\([^()]*\))*)\)/g, '$1')
      .replaceAll("DateTime64(6, 'UTC')", 'Time')
      // Named tuples come with a line for each element.
      .replace(/\(\n\s+/g, '(')
      .replace(/,\n\s+/g, ', ')
      .replace(/'([\w-]+)' = \d+/g, '$1')
      .replaceAll('Enum8', 'Enum')
  );
}
