import type { WatchMessage } from '../../schemas/watch.ts';
import type { Problem } from '../../schemas/problem.ts';
import { received } from '../../schemas/shape.ts';
import { checkWatchMessage } from '../../schemas/watch-message.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { parseKeepingSources } from '../../schemas/json.ts';
import { damageOf, isIdField } from './damaged-ids.ts';
import { decimalOf } from './amounts.ts';
import { fieldOf, FIELDS, toMessage, type BackfillField, type Defaults } from './columns.ts';
import { delimiterOf, endCsv, readCsv, startCsv, type CsvRecord } from './csv.ts';

/** One line of the file: an order to watch, or why it is none. */
export interface Line {
  readonly line: number;
  readonly message: WatchMessage | null;
  readonly problem: Problem | null;
}

export interface LineReader {
  push(text: string): Line[];
  end(): Line[];
}

const MAX_LINE_CHARACTERS = 100_000;

/**
 * Reads CSV with a header, or JSON lines: whichever the first character says. Bad lines are values, and stop
 * nothing.
 * @throws GatewatchError `usage` for a file that cannot be one of them, or whose header names no id
 */
export function createLineReader(defaults: Defaults): LineReader {
  let reader: LineReader | null = null;
  let head = '';
  const begin = (text: string, isEnd: boolean): Line[] => {
    head += text;
    const content = head.replace(/^\u{feff}/u, '').trimStart();
    if (content === '' && !isEnd) return [];
    if (content.startsWith('[')) {
      throw usage('a JSON array is not read in pieces: give one JSON object a line, e.g. with jq -c ".[]"');
    }
    const blank = head.replace(/^\u{feff}/u, '');
    if (content.startsWith('{')) reader = createJsonReader(defaults);
    else {
      // Excel's own first line says what stands between fields.
      const separator = /^sep=(.)(?:\r\n|\r|\n)(?=[^\n])/i.exec(content);
      if (separator === null && !isEnd && /^(?:s|se|sep|sep=.?[\r\n]{0,2})$/i.test(content)) return [];
      const table = separator === null ? content : content.slice(separator[0].length);
      const header = /[^\r\n]*[\r\n]/.exec(table)?.[0] ?? (isEnd ? table : undefined);
      if (header === undefined) {
        if (content.length > MAX_LINE_CHARACTERS)
          throw usage('its first line has no end: is it a text file?');
        return [];
      }
      const before = separator === null ? 0 : 1;
      reader = createTableReader(separator?.[1] ?? delimiterOf(header), defaults, before);
      head = '';
      return reader.push(separator === null ? blank : table);
    }
    head = '';
    return reader.push(blank);
  };
  return {
    push: (text) => (reader === null ? begin(text, false) : reader.push(text)),
    end() {
      const first = reader === null ? begin('', true) : [];
      return [...first, ...(reader?.end() ?? [])];
    },
  };
}

function createJsonReader(defaults: Defaults): LineReader {
  let rest = '';
  let line = 0;
  const read = (text: string): Line[] => {
    line += 1;
    if (text.trim() === '') return [];
    return [{ line, ...checkJson(text, defaults) }];
  };
  return {
    push(text) {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > MAX_LINE_CHARACTERS) throw usage(`line ${line + parts.length + 1} is too long`);
      return parts.flatMap(read);
    },
    end: () => (rest === '' ? [] : read(rest)),
  };
}

function checkJson(text: string, defaults: Defaults): Omit<Line, 'line'> {
  let value: unknown;
  try {
    value = parseKeepingSources(text, (key, source) => isIdField(fieldOf(key)) && /^\d+$/.test(source));
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse({ field: 'line', received: `${text.trim().length} characters`, expected: 'a JSON object' });
  }
  const named = Object.entries(value).flatMap(([name, inner]) => {
    const field = fieldOf(name);
    return field === undefined ? [] : [[field, inner] as const];
  });
  return check(toMessage(named, defaults));
}

/** @param before lines that stand before the header */
function createTableReader(delimiter: string, defaults: Defaults, before: number): LineReader {
  const csv = startCsv(delimiter);
  let columns: (BackfillField | undefined)[] | null = null;
  const read = (record: CsvRecord): Line[] => {
    if (columns === null) {
      columns = readHeader(record, defaults);
      return [];
    }
    return [{ line: record.line + before, ...checkRecord(record, columns, { defaults, delimiter }) }];
  };
  return { push: (text) => readCsv(csv, text).flatMap(read), end: () => endCsv(csv).flatMap(read) };
}

function readHeader(record: CsvRecord, defaults: Defaults): (BackfillField | undefined)[] {
  const columns = record.fields.map(fieldOf);
  const named = columns.filter((field) => field !== undefined);
  if (!named.includes('externalId') && !named.includes('externalTransactionId')) {
    throw usage(`its header names no id; columns: ${FIELDS.join(', ')} (any case, with or without _)`);
  }
  if (!named.includes('orderType') && defaults.orderType === undefined) {
    throw usage('its header names no orderType: add the column, or give --type for all lines');
  }
  const twice = named.find((field, index) => named.indexOf(field) !== index);
  if (twice !== undefined) throw usage(`its header names ${twice} twice`);
  return columns;
}

function checkRecord(
  record: CsvRecord,
  columns: readonly (BackfillField | undefined)[],
  { defaults, delimiter }: { readonly defaults: Defaults; readonly delimiter: string },
): Omit<Line, 'line'> {
  if (record.malformed) {
    return refuse({ field: 'line', received: 'a quote that does not belong there', expected: 'CSV' });
  }
  if (record.fields.length !== columns.length) {
    return refuse({
      field: 'line',
      received: `${record.fields.length} fields`,
      expected: `${columns.length} fields, as the header has`,
    });
  }
  const named = columns.flatMap((field, index) =>
    field === undefined ? [] : [[field, record.fields[index]] as const],
  );
  const amount = record.fields[columns.indexOf('amount')]?.trim() ?? '';
  const decimal = decimalOf(amount, delimiter);
  if (decimal === null) {
    const expected = 'an amount that can be read in one way, such as 1234.00 or 1234,00';
    return refuse({ field: 'amount', received: received(amount), expected });
  }
  if (decimal !== amount) named.push(['amount', decimal]);
  return check(toMessage(named, defaults));
}

function check(message: Record<string, unknown>): Omit<Line, 'line'> {
  for (const [field, value] of Object.entries(message)) {
    if (typeof value !== 'string' || !value.includes('\u{fffd}')) continue;
    return refuse({ field, received: 'bytes of another encoding', expected: 'text in UTF-8 or UTF-16' });
  }
  for (const field of ['externalId', 'externalTransactionId'] as const) {
    const damage = damageOf(message[field]);
    if (damage !== null) return refuse({ field, ...damage });
  }
  const decoded = checkWatchMessage(message);
  return decoded.ok ? { message: decoded.message, problem: null } : refuse(decoded.problem);
}

const refuse = (problem: Problem) => ({ message: null, problem });

function usage(message: string): GatewatchError {
  return new GatewatchError(`The file cannot be read: ${message}.`, { code: 'usage' });
}
