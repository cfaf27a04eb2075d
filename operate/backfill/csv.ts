/*
 * RFC 4180, read as a stream, and forgiving where files differ:
 *   file    => record *(end record) [end]         end    => CRLF / LF / CR
 *   record  => field *(delimiter field)           field  => quoted / plain
 * quoted  => '"' *(any but '"' / '""') '"'      plain  => *(any but delimiter, end) A quote inside a plain
 * field stands for itself. Text behind the closing quote of a field makes its record malformed. An empty line
 * is no record.
 */

export interface CsvRecord {
  /** Number of its first line, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** The record cannot be read as CSV. */
  readonly malformed: boolean;
}

export interface CsvReader {
  /** Records that end in this piece of the text. */
  push(text: string): CsvRecord[];
  /** The last record, when no line end follows it. */
  end(): CsvRecord[];
}

type State = 'start' | 'plain' | 'quoted' | 'quote' | 'spoilt';

/** A quote that is never closed must not swallow a file into memory. */
const MAX_RECORD_CHARACTERS = 100_000;

/**
 * Characters go through a state machine, so that it does not matter where the pieces of the text begin and
 * end.
 */
export function createCsvReader(delimiter: string): CsvReader {
  let state: State = 'start';
  let field = '';
  let fields: string[] = [];
  let records: CsvRecord[] = [];
  let size = 0;
  let line = 1;
  let firstLine = 1;
  let malformed = false;
  let afterReturn = false;

  function endField(): void {
    fields.push(field);
    field = '';
    state = 'start';
  }

  function endRecord(): void {
    const isEmpty = state === 'start' && fields.length === 0;
    if (!isEmpty) {
      // Within quotes only when the text ends there, or the record is too long.
      if (state === 'quoted') malformed = true;
      endField();
      records.push({ line: firstLine, fields, malformed });
    }
    fields = [];
    state = 'start';
    malformed = false;
    size = 0;
  }

  function take(char: string): void {
    const isEnd = char === '\n' || char === '\r';
    if (isEnd && state !== 'quoted') {
      endRecord();
    } else if (state === 'quoted') {
      if (char === '"') state = 'quote';
      else field += char;
    } else if (char === delimiter) {
      endField();
    } else if (state === 'start' && char === '"') {
      state = 'quoted';
    } else if (state === 'quote' && char === '"') {
      field += '"';
      state = 'quoted';
    } else if (state === 'quote' || state === 'spoilt') {
      malformed = true;
      state = 'spoilt';
    } else {
      field += char;
      state = 'plain';
    }
  }

  return {
    push(text) {
      for (const char of text) {
        const isSecond = char === '\n' && afterReturn;
        afterReturn = char === '\r';
        // Within quotes a line end is content, also one of two characters.
        if (isSecond && state !== 'quoted') continue;
        if (size === 0) firstLine = line;
        size += 1;
        if ((char === '\n' && !isSecond) || char === '\r') line += 1;
        take(char);
        if (size > MAX_RECORD_CHARACTERS) {
          malformed = true;
          endRecord();
        }
      }
      const done = records;
      records = [];
      return done;
    },
    end() {
      if (size > 0) endRecord();
      const done = records;
      records = [];
      return done;
    },
  };
}

/** The delimiter of a header line: whichever of comma, semicolon and tab it has most of. */
export function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].toSorted((a, b) => count(b) - count(a))[0] ?? ',';
}
