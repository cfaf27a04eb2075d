import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runGenerator, writeOut } from '../../../dashboards/house/write-out.ts';

describe('writing generated files', () => {
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'gatewatch-out-'))));
  afterEach(() => rmSync(dir, { recursive: true }));
  const files = new Map([
    ['a/one.json', '1\n'],
    ['two.yaml', '2\n'],
  ]);

  it('writes what is missing or changed and removes what is no longer generated', () => {
    writeFileSync(join(dir, 'old.json'), 'x');
    expect(writeOut(dir, files, { check: false })).toEqual(['a/one.json', 'old.json', 'two.yaml']);
    expect(writeOut(dir, files, { check: true })).toEqual([]);
    expect(readFileSync(join(dir, 'a/one.json'), 'utf8')).toBe('1\n');
  });

  it('only names what is stale when it checks', () => {
    writeOut(dir, files, { check: false });
    writeFileSync(join(dir, 'two.yaml'), 'changed by hand');
    writeFileSync(join(dir, 'three.yaml'), 'left over');
    expect(writeOut(dir, files, { check: true })).toEqual(['three.yaml', 'two.yaml']);
    expect(readFileSync(join(dir, 'two.yaml'), 'utf8')).toBe('changed by hand');
  });

  it('ends with 1 only when it checks and something is stale', () => {
    expect(runGenerator(dir, files, ['--check'])).toBe(1);
    expect(runGenerator(dir, files, [])).toBe(0);
    expect(runGenerator(dir, files, ['--check'])).toBe(0);
  });

  it('refuses to write nothing', () => {
    expect(() => writeOut(dir, new Map(), { check: false })).toThrow('nothing was generated');
  });
});
