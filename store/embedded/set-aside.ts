import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storePaths } from './engine-config.ts';

/**
 * Codes of the engine's exceptions that tell of damaged files: syntax of its own metadata,
 * checksums, ends of files, broken parts. A full disk, a missing permission or a lack of memory is none of
 * them.
 */
const CORRUPTION: ReadonlySet<number> = new Set([
  6, 26, 27, 32, 33, 40, 41, 62, 72, 79, 117, 128, 131, 166, 186, 226, 228, 231, 246, 271, 272, 342,
]);

/** True when the engine's last message says that files in its folder are damaged. */
export function isCorruption(message: string): boolean {
  const code = /\bCode: (\d+)\. DB::(?:Err|E)xception/.exec(message)?.[1];
  return code !== undefined && CORRUPTION.has(Number(code));
}

/** Renames the engine's folder, unchanged, and returns its new path. */
export function setAside(dataDir: string, now: Date): string {
  const { engine } = storePaths(dataDir);
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  // The marker first: after a kill in between, an unnecessary refill is better than a forgotten one.
  writeFileSync(markerOf(dataDir), '');
  let folder = `${engine}.broken-${stamp}`;
  for (let copy = 2; existsSync(folder); copy += 1) folder = `${engine}.broken-${stamp}-${copy}`;
  renameSync(engine, folder);
  return folder;
}

/** Tells whether an empty store has to be filled again from its sources. */
export interface Refill {
  /** The store began anew, and its sources have not been told yet. */
  isDue(): boolean;
  done(): void;
}

export function refillOf(dataDir: string): Refill {
  return {
    isDue: () => existsSync(markerOf(dataDir)),
    done: () => rmSync(markerOf(dataDir), { force: true }),
  };
}

const markerOf = (dataDir: string): string => join(dataDir, 'refill.due');
