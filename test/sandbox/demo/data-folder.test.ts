import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimDataFolder, FolderRefused, MARKER } from '../../../sandbox/demo/data-folder.ts';

const DEMO = fileURLToPath(new URL('../../../sandbox/demo.ts', import.meta.url));

const RUNNING = 4711;
let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gatewatch-folder-'));
  folder = join(home, 'demo');
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

/** A process that is no more. */
const GONE = 2;
const claim = (path: string, pid = GONE): void =>
  claimDataFolder(path, { pid, isAlive: (other) => other === RUNNING });

describe('the data folder of the demo', () => {
  it('is made where there is none, and taken where it is empty', () => {
    claim(join(folder, 'deep'));
    mkdirSync(join(home, 'empty'));
    claim(join(home, 'empty'));
    expect(readdirSync(join(home, 'empty'))).toEqual([MARKER]);
  });

  it('is emptied where an earlier demo has marked it', () => {
    claim(folder);
    mkdirSync(join(folder, 'clickhouse'));
    writeFileSync(join(folder, 'clickhouse', 'part'), 'rows');
    writeFileSync(join(folder, 'embedded.json'), JSON.stringify({ url: '', pid: GONE }));
    claim(folder, 3);
    expect(readdirSync(folder)).toEqual([MARKER]);
    expect(JSON.parse(readFileSync(join(folder, MARKER), 'utf8'))).toMatchObject({ pid: 3 });
  });

  it('is refused with files of others in it, and nothing of theirs is touched', () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'thesis.tex'), 'years of work');
    expect(() => claim(folder)).toThrow(FolderRefused);
    expect(readdirSync(folder)).toEqual(['thesis.tex']);
  });

  it('is refused while a demo or a store uses it', () => {
    claim(folder, RUNNING);
    writeFileSync(join(folder, 'rows'), '');
    expect(() => claim(folder)).toThrow(`in use by process ${RUNNING}`);
    expect(existsSync(join(folder, 'rows'))).toBe(true);
    rmSync(folder, { recursive: true });
    claim(folder);
    writeFileSync(join(folder, 'embedded.json'), JSON.stringify({ pid: RUNNING }));
    expect(() => claim(folder)).toThrow(`in use by process ${RUNNING}`);
  });

  it('is refused where it is a file, or a link to somewhere', () => {
    writeFileSync(folder, '');
    expect(() => claim(folder)).toThrow('is not a folder');
    mkdirSync(join(home, 'own'));
    symlinkSync(join(home, 'own'), join(home, 'link'));
    expect(() => claim(join(home, 'link'))).toThrow('is not a folder');
  });

  it('ends the demo with code 2 and a word on what to do, before anything was started', () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'thesis.tex'), 'years of work');
    const { status, stderr } = spawnSync(process.execPath, [DEMO, '--data-dir', folder], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('--data-dir') });
    expect(readdirSync(folder)).toEqual(['thesis.tex']);
  });
});
