import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stalePages } from '../../docs/generate.ts';
import { SETTING_DOCS, VARIABLE_DOCS } from '../../docs/generator/config-docs.ts';
import { settings } from '../../docs/generator/settings.ts';
import { CALLED_VIEW_DOCS } from '../../docs/generator/called-view-docs.ts';
import { documentedType, readViewDocs } from '../../docs/generator/view-docs.ts';
import { DATABASE, PAGE_VIEWS, VIEWS } from '../../schemas/names.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { ROOT } from './markdown.ts';

test('The generated reference pages are up to date', () => {
  expect(stalePages(), 'run "node docs/generate.ts"').toEqual([]);
});

test('Every key of the configuration is documented, and no key that does not exist', () => {
  const paths = settings().map((setting) => setting.path);
  expect(Object.keys(SETTING_DOCS).sort()).toEqual([...new Set(paths)].sort());
});

test('The documented variables are exactly those that the collector reads', () => {
  const sources = ['environment.ts', 'load.ts'].map((file) =>
    readFileSync(path.join(ROOT, 'collector', 'config', file), 'utf8'),
  );
  const read = sources.flatMap((text) => text.match(/(?<=')GATEWATCH_[A-Z_]+(?=')/g) ?? []);
  expect(Object.keys(VARIABLE_DOCS).sort()).toEqual([...new Set(read)].sort());
});

test('A variable is documented with a setting that exists', () => {
  const paths = new Set(settings().map((setting) => setting.path));
  const named = Object.values(VARIABLE_DOCS).map((doc) => doc.setting);
  expect(named.filter((setting) => setting !== '' && !paths.has(setting))).toEqual([]);
});

describe('The documented views', () => {
  let store: SeededStore;
  beforeAll(async () => {
    store = await startSeededStore();
  });
  afterAll(() => store.stop());

  test('are all the public ones', () => {
    expect(
      readViewDocs()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Object.values(VIEWS).toSorted());
  });

  test.each(readViewDocs())('say of each column of $name what the engine says', async (doc) => {
    const { data } = await store.query(`DESCRIBE TABLE ${DATABASE}.${doc.name}`);
    const actual = data.map((row) => ({
      name: row['name'],
      type: documentedType(String(row['type'])),
      text: row['comment'],
    }));
    expect(doc.columns).toEqual(actual);
    expect([doc.grain, ...doc.columns.map(({ text }) => text)]).not.toContain('');
  });

  test('with parameters are all there are', () => {
    expect(CALLED_VIEW_DOCS.map(({ name }) => name)).toEqual(PAGE_VIEWS);
  });

  test.each(CALLED_VIEW_DOCS)('name every column of $name with its type in the engine', async (doc) => {
    const times = ['from', 'to', 'as_of'].map((name) => `${name} = '2026-03-02 12:00:00'`);
    const call = `${doc.name}(rule = '', gateway = '', ${times.join(', ')})`;
    const { meta = [] } = await store.query(`SELECT * FROM ${DATABASE}.${call}`);
    const actual = meta.map(({ name, type }) => ({ name, type: documentedType(type) }));
    expect(doc.columns.map(({ name, type }) => ({ name, type }))).toEqual(actual);
  });
});
