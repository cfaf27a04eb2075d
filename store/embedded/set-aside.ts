import { existsSync, renameSync } from 'node:fs';
import { storePaths } from './engine-config.ts';

/**
 * Codes of the engine's exceptions that mean damaged files: syntax of its own metadata,
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
  let folder = `${engine}.broken-${stamp}`;
  for (let copy = 2; existsSync(folder); copy += 1) folder = `${engine}.broken-${stamp}-${copy}`;
  renameSync(engine, folder);
  return folder;
}
