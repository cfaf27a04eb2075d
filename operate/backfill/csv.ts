/*
 * RFC 4180, read as a stream, and forgiving where files differ:
 *
 *   file    => record *(end record) [end]         end    => CRLF / LF / CR
 *   record  => field *(delimiter field)           field  => quoted / plain
 *   quoted  => '"' *(any but '"' / '""') '"'      plain  => *(any but delimiter, end)
 *
 * A quote inside a plain field stands for itself. Text behind the closing quote of a field makes its record
 * malformed. An empty line is no record.
 */

export interface CsvRecord {
  /** Number of its first line, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** The record cannot be read as CSV. */
  readonly malformed: boolean;
}

/** Where the reader stands between two characters. Plain data, changed in place by `readCsv` and `endCsv`. */
export interface CsvState {
  readonly delimiter: string;
  /**
   * `quote`: behind a quote within a quoted field, its end or the first of two. `spoilt`: text behind the
   * end.
   */
  mode: 'start' | 'plain' | 'quoted' | 'quote' | 'spoilt';
  field: string;
  fields: string[];
  malformed: boolean;
  /** Characters of the record so far. */
  size: number;
  firstLine: number;
  line: number;
  afterReturn: boolean;
}

/** A quote that is never closed must not swallow a file into memory. */
const MAX_RECORD_CHARACTERS = 100_000;

export function startCsv(delimiter: string): CsvState {
  return {
    delimiter,
    mode: 'start',
    field: '',
    fields: [],
    malformed: false,
    size: 0,
    firstLine: 1,
    line: 1,
    afterReturn: false,
  };
}

/** The records that end in this piece of the text; it does not matter where pieces begin and end. */
export function readCsv(state: CsvState, text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  for (const char of text) {
    const isSecond = char === '\n' && state.afterReturn;
    state.afterReturn = char === '\r';
    // Within quotes a line end is content, also one of two characters.
    if (isSecond && state.mode !== 'quoted') continue;
    if (state.size === 0) state.firstLine = state.line;
    state.size += 1;
    if ((char === '\n' && !isSecond) || char === '\r') state.line += 1;
    if ((char === '\n' || char === '\r') && state.mode !== 'quoted') {
      records.push(...endRecord(state));
      continue;
    }
    readCharacter(state, char);
    if (state.size > MAX_RECORD_CHARACTERS) {
      state.malformed = true;
      records.push(...endRecord(state));
    }
  }
  return records;
}

/** The last record, when no line end follows it. */
export function endCsv(state: CsvState): CsvRecord[] {
  return state.size > 0 ? endRecord(state) : [];
}

/** One character of a record, which no end of a line is unless it is quoted. */
function readCharacter(state: CsvState, char: string): void {
  const { mode, delimiter } = state;
  if (mode === 'quoted') {
    if (char === '"') state.mode = 'quote';
    else state.field += char;
  } else if (char === delimiter) {
    endField(state);
  } else if (mode === 'start' && char === '"') {
    state.mode = 'quoted';
  } else if (mode === 'quote' && char === '"') {
    state.field += '"';
    state.mode = 'quoted';
  } else if (mode === 'quote' || mode === 'spoilt') {
    state.malformed = true;
    state.mode = 'spoilt';
  } else {
    state.field += char;
    state.mode = 'plain';
  }
}

function endField(state: CsvState): void {
  state.fields.push(state.field);
  state.field = '';
  state.mode = 'start';
}

function endRecord(state: CsvState): CsvRecord[] {
  const isEmpty = state.mode === 'start' && state.fields.length === 0;
  // Within quotes only when the text ends there, or the record is too long.
  const malformed = state.malformed || state.mode === 'quoted';
  endField(state);
  const record = { line: state.firstLine, fields: state.fields, malformed };
  state.fields = [];
  state.malformed = false;
  state.size = 0;
  return isEmpty ? [] : [record];
}

/** The delimiter of a header line: whichever of comma, semicolon and tab it has most of. */
export function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].toSorted((a, b) => count(b) - count(a))[0] ?? ',';
}
