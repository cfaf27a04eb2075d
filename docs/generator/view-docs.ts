import { readFileSync } from 'node:fs';
import { splitStatements } from '../../store/sql/statements.ts';
import { columnsOf, grainOf } from '../../store/definitions.ts';
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

/**
 * What the definitions of the public views say of themselves: grain and notes in the comment before each,
 * columns in its list. Views that are called with arguments have no list: see called-view-docs.ts.
 */
export function readViewDocs(): readonly ViewDoc[] {
  const statements = VIEW_FILES.flatMap((file) => splitStatements(readFileSync(file, 'utf8')));
  return statements.flatMap((statement) => {
    const name = /^CREATE OR REPLACE VIEW (\w+)\n\(\n/m.exec(statement)?.[1];
    return name === undefined ? [] : [{ name, ...headOf(statement), columns: columnDocs(statement) }];
  });
}

function headOf(statement: string): Pick<ViewDoc, 'grain' | 'notes'> {
  const comments = statement.slice(0, statement.indexOf('\nCREATE'));
  // A line that is indented goes on with the note above it.
  const notes = comments.replaceAll(/\n-- {3}/g, ' ').matchAll(/^-- - (.*)$/gm);
  return { grain: grainOf(comments), notes: Array.from(notes, ([, note = '']) => note) };
}

const columnDocs = (statement: string): ColumnDoc[] =>
  columnsOf(statement).map((column) => ({ ...column, type: documentedType(column.type) }));

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
