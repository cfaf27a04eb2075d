import { readFileSync } from 'node:fs';

/** One row of `catalogue.md`. */
export interface CataloguedCode {
  readonly action: string;
  readonly stage: string;
  readonly result: string;
  readonly state: string;
  readonly reasonCode: number;
  readonly reasonGroup: string;
  readonly reasonDetail: string;
}

/** The forty codes of `catalogue.md`, decoded by hand. */
export function cataloguedCodes(): CataloguedCode[] {
  return rowsOf('catalogue.md').map(([action, stage, result, state, reason, group, detail]) => ({
    action: cell(action),
    stage: cell(stage),
    result: cell(result),
    state: cell(state),
    reasonCode: Number(cell(reason)),
    reasonGroup: cell(group),
    reasonDetail: cell(detail),
  }));
}

/** The reasons of `reasons.md` by their two digits. */
export function reasonTable(): ReadonlyMap<string, { group: string; detail: string }> {
  return new Map(
    rowsOf('reasons.md').map(([code, group, detail]) => [
      cell(code),
      { group: cell(group), detail: cell(detail) },
    ]),
  );
}

/** Rows of the one table in a Markdown file, without its head. */
function rowsOf(file: string): string[][] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n');
  const table = lines.filter((line) => line.startsWith('|'));
  return table.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((text) => text.trim()),
  );
}

function cell(text: string | undefined): string {
  if (text === undefined || text === '') throw new Error('the table lacks a cell');
  return text;
}
