import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const json = (file: string): unknown => JSON.parse(read(file));

type Versions = Readonly<Record<string, string>>;
const { dependencies, optionalDependencies, devDependencies, allowScripts } = json('package.json') as {
  readonly dependencies: Versions;
  readonly optionalDependencies: Versions;
  readonly devDependencies: Versions;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const text = read('docs/dependencies.md');
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);
/** Rows of the table in a section, by the name in its first cell. */
const rows = (title: string): Map<string, string[]> =>
  new Map(
    Array.from(
      (sections.get(title) ?? '').matchAll(/^\| `([^`]+)` *\|(.*)\|$/gm),
      ([, name = '', rest = '']) => [name, rest.split('|').map((cell) => cell.trim())],
    ),
  );

describe('docs/dependencies.md', () => {
  it.each([
    ['What runs', dependencies],
    ['What is optional', optionalDependencies],
    ['What builds and tests', devDependencies],
  ])('lists under "%s" every package with its reason and its licence, and no other', (title, versions) => {
    const listed = rows(title);
    expect([...listed.keys()].toSorted()).toEqual(Object.keys(versions).toSorted());
    for (const [name, [why = '', licence]] of listed) {
      expect(`${name}: ${why}`).toMatch(/: .{10,}$/);
      expect({ name, licence }).toEqual({
        name,
        licence: (json(`node_modules/${name}/package.json`) as { license: string }).license,
      });
    }
  });

  it('explains every decision about an install script', () => {
    const listed = rows('What may run at install');
    const decided = Object.entries(allowScripts).map(([name, allowed]) => [name, allowed ? 'yes' : 'no']);
    expect([...listed].map(([name, [allowed]]) => [name, allowed]).toSorted()).toEqual(decided.toSorted());
  });
});

it('every package with an install script is decided upon, and nothing else is', () => {
  const { packages } = json('package-lock.json') as {
    readonly packages: Readonly<Record<string, { hasInstallScript?: boolean }>>;
  };
  const withScript = Object.entries(packages).flatMap(([place, { hasInstallScript }]) =>
    hasInstallScript === true ? [place.replace(/^.*node_modules\//, '')] : [],
  );
  expect(Object.keys(allowScripts).toSorted()).toEqual([...new Set(withScript)].toSorted());
});

it('versions are exact, and what the lock has no hash of is for another platform', () => {
  for (const [name, version] of Object.entries({
    ...dependencies,
    ...optionalDependencies,
    ...devDependencies,
  }))
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/);
  const { packages } = json('package-lock.json') as {
    readonly packages: Readonly<
      Record<
        string,
        { integrity?: string; inBundle?: boolean; optional?: boolean; cpu?: string[]; os?: string[] }
      >
    >;
  };
  const bare = Object.entries(packages).filter(
    ([place, { integrity, inBundle }]) => place !== '' && integrity === undefined && inBundle !== true,
  );
  for (const [place, { optional, cpu, os }] of bare)
    expect({ place, optional, bound: cpu !== undefined && os !== undefined }).toEqual({
      place,
      optional: true,
      bound: true,
    });
  expect(bare.map(([place]) => place).filter((place) => /linux-x64-gnu/.test(place))).toEqual([]);
});
