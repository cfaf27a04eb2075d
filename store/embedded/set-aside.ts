import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storePaths } from './engine-config.ts';

/**
 * Codes of the engine's exceptions that speak of files it cannot make sense of: syntax of its own metadata,
 * checksums, ends of files, broken parts. A full disk, a missing permission or a lack of memory is none of
 * them.
 */
const CORRUPTION: ReadonlySet<number> = new Set([
  6, 26, 27, 32, 33, 40, 41, 62, 72, 79, 117, 128, 131, 166, 186, 226, 228, 231, 246, 271, 272, 342,
]);

/** Does the engine's last word say that the files in its folder are damaged? */
export function isCorruption(message: string): boolean {
  const code = /\bCode: (\d+)\. DB::(?:Err|E)xception/.exec(message)?.[1];
  return code !== undefined && CORRUPTION.has(Number(code));
}

/** Moves the engine's folder out of the way, as it is. Returns where it went. */
export function setAside(dataDir: string, now: Date): string {
  const { engine } = storePaths(dataDir);
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  // First, so that a kill in between leads to a refill too many, not to one that is forgotten.
  writeFileSync(markerOf(dataDir), '');
  let folder = `${engine}.broken-${stamp}`;
  for (let copy = 2; existsSync(folder); copy += 1) folder = `${engine}.broken-${stamp}-${copy}`;
  renameSync(engine, folder);
  return folder;
}

/** What a store that was started anew lacks: to be read again from where it came. */
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
