import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchors, documents, readDocument, ROOT, withoutCode } from './markdown.ts';

/** A path below one of our folders, as it stands in text. */
const OURS =
  /^(?:schemas|collector|store|alerts|jobs|dashboards|console|operate|cli|sandbox|test|docs|deploy)\/[\w./*-]*$/;

describe.each(documents())('%s', (file) => {
  const markdown = readDocument(file);

  test('links only to files and headings that exist', () => {
    const links = Array.from(withoutCode(markdown).matchAll(/(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)/g));
    const broken = links.map((match) => match[1] ?? '').filter((link) => !resolves(file, link));
    expect(broken).toEqual([]);
  });

  // The changelog names files that are gone.
  test.skipIf(file === 'CHANGELOG.md')('names only files of ours that exist', () => {
    const named = Array.from(markdown.matchAll(/`([^`\n]+)`/g), (match) => match[1] ?? '')
      .flatMap((span) => span.split(/\s+/))
      .filter((word) => OURS.test(word));
    expect(named.filter((name) => !isThere(file, name))).toEqual([]);
  });

  test('starts with one heading of the first level', () => {
    const first = withoutCode(markdown).match(/^# .+$/gm) ?? [];
    expect(first).toHaveLength(1);
  });
});

test('Decisions are numbered without gaps and have context, choice and consequence', () => {
  const records = globSync('docs/decisions/*.md', { cwd: ROOT })
    .map((file) => path.basename(file))
    .filter((file) => file !== 'README.md')
    .sort();
  expect(records.map((file) => Number(file.slice(0, 4)))).toEqual(records.map((_file, index) => index + 1));
  for (const record of records) {
    const headings = readDocument(`docs/decisions/${record}`).match(/^## .+$/gm);
    expect({ record, headings }).toEqual({ record, headings: ['## Context', '## Choice', '## Consequence'] });
  }
});

/** Named from the root, as in most pages, or from the page's own folder. */
function isThere(from: string, name: string): boolean {
  const folders = [ROOT, path.join(ROOT, path.dirname(from))];
  // A name in capitals stands for what the reader adds: the folder around it exists.
  const [known = ''] = name.split(/(?<=\/)[A-Z]+(?=[./])/);
  return folders.some((cwd) =>
    known.includes('*') ? globSync(known, { cwd }).length > 0 : existsSync(path.join(cwd, known)),
  );
}

function resolves(from: string, link: string): boolean {
  if (/^(https?|mailto):/.test(link)) return true;
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? from : path.join(path.dirname(from), target);
  if (!existsSync(path.join(ROOT, file))) return false;
  return anchor === undefined || anchors(readDocument(file)).has(anchor);
}
