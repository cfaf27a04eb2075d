import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDocument, ROOT } from './markdown.ts';

const page = readDocument('CONTRIBUTING.md');
const spans = Array.from(page.matchAll(/`([^`\n]+)`/g), (match) => match[1] ?? '');
const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```/gms), (match) => match[1] ?? '');

/** Words of code that name a file or folder here: those with a slash, and the pages of the root. */
const paths = [...new Set(spans.flatMap((span) => span.split(/\s+/)).filter(isPath))];
const scripts = [
  ...new Set(
    [...spans, ...blocks].flatMap((text) =>
      Array.from(
        text.matchAll(/\bnpm (?:run (?:-s )?([a-z][\w:-]*)|(test|start)\b)/g),
        (match) => match[1] ?? match[2] ?? '',
      ),
    ),
  ),
];

/** A playbook's subject, and the fewest steps that can be one. */
const PLAYBOOKS = [
  'reason code',
  'source',
  'sink',
  'measure',
  'span attribute',
  'dashboard panel',
  'alert rule',
  'command',
  'table or a view',
  'job',
  'column to `orders`',
];

describe('CONTRIBUTING.md', () => {
  test('names many paths and scripts', () => {
    expect(paths.length).toBeGreaterThan(60);
    expect(scripts.length).toBeGreaterThan(8);
  });

  test.each(paths)('names %s, which exists', (name) => {
    expect(exists(name)).toBe(true);
  });

  test.each(scripts)('names the script %s, which package.json has', (name) => {
    const { scripts: known } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(Object.keys(known)).toContain(name);
  });

  test('has a playbook for everything that is added again and again', () => {
    const found = Array.from(page.matchAll(/^## Playbook: add an? (.+)$/gm), (match) => match[1]);
    expect(found).toEqual(PLAYBOOKS);
  });

  test.each(constantsWithFile())('says that %s is in %s, and it is', (name, file) => {
    expect(readFileSync(path.join(ROOT, file), 'utf8')).toMatch(new RegExp(`\\b${name}\\b`));
  });
});

function isPath(word: string): boolean {
  if (word === '.ci/run' || /^[\w-]+\.md$/.test(word)) return true;
  // Not a scoped package, an address or what git does not hold.
  if (!/^[\w.-]+\/[\w./*-]*$/.test(word)) return false;
  return word !== '.cache/';
}

/** A name in capitals stands for what the reader adds: the folder around it exists. */
function exists(name: string): boolean {
  const [known = ''] = name.split(/(?<=\/)[A-Z]+(?=[./])/);
  return known.includes('*') ? globSync(known, { cwd: ROOT }).length > 0 : existsSync(path.join(ROOT, known));
}

/** Sentences such as "`REASONS` in `schemas/dictionary.ts`", or "`VIEWS` of `schemas/names.ts`". */
function constantsWithFile(): [string, string][] {
  const pairs = page.matchAll(/`([A-Z][A-Za-z_]+)`\s+(?:in|of)\s+`([\w./-]+\.ts)`/g);
  return Array.from(pairs, ([, name = '', file = '']): [string, string] => [name, file]);
}
