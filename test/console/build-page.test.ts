import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mkdtempDisposable } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { buildPage } from '../../console/build-page.ts';

const BUILDER = join(import.meta.dirname, '../../console/build-page.ts');

it('bundles the page and its libraries into two scripts', async () => {
  const files = await buildPage();
  expect(Object.keys(files).toSorted()).toEqual([
    'icon.svg',
    'index.html',
    'lib/uplot.css',
    'main.js',
    'style.css',
    'theme-first.js',
  ]);
  expect(files['theme-first.js']?.startsWith('(function(){')).toBe(true);
});

it('carries the licence of every library that it holds', async () => {
  const { 'main.js': main = '' } = await buildPage();
  const [, notices = ''] = /^((?:\/\*!\n[^]*?\*\/\n)+)/.exec(main) ?? [];
  expect([...notices.matchAll(/^\/\*!\n(.*)$/gm)].map(([, name]) => name)).toEqual(['marked', 'uplot']);
  expect(notices).toContain('Permission is hereby granted, free of charge');
});

it('gives the same bytes for the same sources', async () => {
  expect(await buildPage()).toEqual(await buildPage());
});

it('is written into a folder for the published package and the image', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatewatch-page-'));
  await promisify(execFile)(process.execPath, [BUILDER, folder.path]);
  const names = readdirSync(folder.path, { recursive: true });
  const files = Object.entries(await buildPage());
  expect(names.toSorted()).toEqual([...files.map(([name]) => name), 'lib'].toSorted());
  for (const [name, text] of files) expect(readFileSync(join(folder.path, name), 'utf8')).toBe(text);
});
