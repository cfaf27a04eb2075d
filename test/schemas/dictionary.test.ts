import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ALL_REASONS,
  CATALOGUE,
  CODE_FORMATS,
  OUTCOME_OF_GROUP,
  OUTCOMES,
  ORDER_TYPES,
  REASON_GROUPS,
  REASONS,
  RESULTS,
  STAGES,
  STATES,
} from '../../schemas/dictionary.ts';
import { TABLES, VIEWS } from '../../schemas/names.ts';
import { COLUMNS, POLL_OUTCOMES, VERDICTS } from '../../schemas/rows.ts';
import { SPAN_ATTRIBUTES } from '../../schemas/span-contract.ts';
import { ID_KINDS, WATCH_PHASES } from '../../schemas/watch.ts';
import { cataloguedCodes, reasonTable } from '../collector/decode/golden-tables.ts';

const textOf = (folder: string): string =>
  readdirSync(new URL(folder, import.meta.url))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => readFileSync(new URL(file, new URL(folder, import.meta.url)), 'utf8'))
    .join('\n');
const sql = textOf('../../schemas/tables/');
const views = ['schemas/views', 'store/out/views', 'dashboards/out/views']
  .map((folder) => textOf(`../../${folder}/`))
  .join('');
/** The members of every Enum8 of a column, in whatever table it stands: `name=number` in order. */
const enumsOf = (column: string) =>
  Array.from(
    sql.matchAll(new RegExp(`^\\s+${column} (?:Nullable\\()?Enum8\\(([^)]*)\\)`, 'gm')),
    ([, members = '']) => members.replaceAll("'", '').replaceAll(' ', '').split(','),
  );
const numbered = (names: readonly string[]) => names.map((name, index) => `${name}=${index + 1}`);
const byCode = (entries: readonly { name: string; code: number }[]) =>
  entries.map(({ name, code }) => `${name}=${code}`);

describe('the dictionary', () => {
  it('holds the catalogue of the interface, in its order', () => {
    expect(CATALOGUE.map(({ action }) => action)).toEqual(cataloguedCodes().map(({ action }) => action));
  });

  it('holds the reasons of the interface, each within the range of its group', () => {
    expect(
      REASONS.map(({ code, group, detail }) => [String(code).padStart(2, '0'), { group, detail }]),
    ).toEqual([...reasonTable()]);
    for (const { code, group } of REASONS) {
      const range = REASON_GROUPS.find(({ name }) => name === group);
      expect(code >= (range?.from ?? 1) && code <= (range?.to ?? 0)).toBe(true);
    }
  });

  it('gives every code, name, detail and description once', () => {
    for (const values of [
      STAGES.map(({ name }) => name),
      STAGES.map(({ label }) => label),
      RESULTS.map(({ name }) => name),
      STATES.map(({ name }) => name),
      REASONS.map(({ detail }) => detail),
      REASONS.map(({ label }) => label),
      CATALOGUE.map(({ description }) => description),
      OUTCOMES,
    ]) {
      expect(new Set<string>(values).size).toBe(values.length);
    }
  });

  it('numbers its segments without gaps, as the decoder and the enums do', () => {
    expect(STAGES.map(({ code }) => code)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(RESULTS.map(({ code }) => code)).toEqual([0, 1, 2]);
    expect(STATES.map(({ code }) => code)).toEqual([0, 1, 2, 3, 4]);
  });

  it('gives every reason group an outcome, and every outcome but success comes from one', () => {
    expect(Object.keys(OUTCOME_OF_GROUP).toSorted()).toEqual(
      REASON_GROUPS.map(({ name }) => name).toSorted(),
    );
    expect(new Set(['succeeded', ...Object.values(OUTCOME_OF_GROUP)])).toEqual(new Set(OUTCOMES));
  });
});

describe('the SQL of measures', () => {
  it('can take the group of a reason from its tens', () => {
    for (const { code, group } of ALL_REASONS)
      expect([code, REASON_GROUPS[Math.floor(code / 10)]?.name]).toEqual([code, group]);
  });
});

describe('the files of the schema', () => {
  it.each([
    ['stage', byCode(STAGES)],
    ['result', byCode(RESULTS)],
    ['state', byCode(STATES)],
    ['code_format', numbered(CODE_FORMATS)],
    ['order_type', numbered(ORDER_TYPES)],
    ['verdict', numbered(VERDICTS)],
    ['id_kind', numbered(ID_KINDS)],
    ['phase', numbered(WATCH_PHASES)],
  ])('give the column %s the members of the dictionary, wherever it stands', (column, members) => {
    const found = enumsOf(column);
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(one).toEqual(members);
  });

  it('give the outcome of a poll its members', () => {
    const members = numbered(POLL_OUTCOMES);
    expect(enumsOf('outcome')).toEqual([members]);
  });

  it.each(Object.values(TABLES))('create the table %s', (table) => {
    expect(sql).toMatch(new RegExp(`CREATE TABLE IF NOT EXISTS ${table}\\n`));
  });

  it.each(Object.values(VIEWS))('create the view %s', (view) => {
    expect(views).toMatch(new RegExp(`CREATE OR REPLACE VIEW ${view}\\b`));
  });

  it.each(Object.entries(TABLES))('give %s every column that rows bring to it', (key, table) => {
    const body =
      new RegExp(`CREATE TABLE IF NOT EXISTS ${table}\\n\\(([\\s\\S]*?)\\n\\)\\n`).exec(sql)?.[1] ?? '';
    const columns = new Set(Array.from(body.matchAll(/^ {4}`?([\w.]+)`? /gm), ([, name]) => name));
    const sent = Object.keys(COLUMNS[key as keyof typeof COLUMNS]);
    expect(sent.filter((column) => !columns.has(column))).toEqual([]);
  });
});

describe('the names of span attributes', () => {
  it('are each given once, in the namespace of payments', () => {
    const names = SPAN_ATTRIBUTES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^payment\.[a-z_]+$/.test(name))).toEqual(['error.type']);
  });
});
