import { describe, expect, it } from 'vitest';
import { findCycle, readSource } from './source-tree.ts';

const read = (text: string) => readSource('collector/decode/x.ts', text);

describe('the reader behind the import rules', () => {
  it.each([
    [`import { a } from '../errors.ts';`, 'collector/errors.ts', false],
    [`import '../errors.ts';`, 'collector/errors.ts', false],
    [`import type { A } from '../errors.ts';`, 'collector/errors.ts', true],
    [`import { type A } from '../errors.ts';`, 'collector/errors.ts', false],
    [`export { a } from './y.ts';`, 'collector/decode/y.ts', false],
    [`export * from './y.ts';`, 'collector/decode/y.ts', false],
    [`export type { A } from './y.ts';`, 'collector/decode/y.ts', true],
    [`const a = await import('./y.ts');`, 'collector/decode/y.ts', false],
    [`let a: import('./y.ts').A;`, 'collector/decode/y.ts', true],
  ])('sees %s', (text, file, typeOnly) => {
    expect(read(text).imports).toMatchObject([{ from: 'collector/decode/x.ts', file, typeOnly }]);
  });

  it('sees libraries, with their scope and without their inner paths', () => {
    const text = `import a from '@scope/name/inner'; import b from 'zod/v4'; import c from 'node:fs/promises';`;
    expect(read(text).imports.map(({ library }) => library)).toEqual([
      '@scope/name',
      'zod',
      'node:fs/promises',
    ]);
  });

  it.each([
    ['process.env', true],
    ['const { env } = process', true],
    ['f({ a: process })', true],
    ['globalThis.process.exit()', true],
    [`import { env } from 'node:process'`, true],
    ['child.process.kill()', false],
    ['function f(process) { return process.env; }', false],
    ['const f = (process: NodeJS.Process) => process.env', false],
    ['function f(process) {} f(process)', true],
    ['const a = { process: 1 }', false],
    ['interface A { process: string }', false],
    ['// process.env', false],
    ['"process.env"', false],
  ])('knows whether %s uses process: %s', (text, uses) => {
    expect(read(text).usesProcess).toBe(uses);
  });

  it('sees mocks, default exports, barrels, hidden imports and cycles', () => {
    expect(read(`vi.mock('./y.ts'); vi.doMock('./z.ts')`).mocks).toEqual(['vi.mock', 'vi.doMock']);
    expect(read('export default 1').defaultExport).toBe(true);
    expect(read(`export { a } from './y.ts'; export * from './z.ts';`).barrel).toBe(true);
    expect(read(`export * from './y.ts'; export const a = 1;`).barrel).toBe(false);
    expect(read(`import(name); require('y'); createRequire(here)`).hiddenImports).toHaveLength(3);
    const ring = ['a', 'b', 'c'].map((name, index, all) =>
      readSource(`schemas/${name}.ts`, `import './${all[(index + 1) % 3] ?? ''}.ts';`),
    );
    expect(findCycle(ring)).toHaveLength(4);
    expect(findCycle(ring.slice(0, 2))).toBeNull();
  });
});
