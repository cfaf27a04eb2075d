import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';

/** Generated files by their path below the out folder, `/` as separator. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/**
 * Writes the files and removes what is no longer generated; or, with `check`, only names what differs.
 * @returns paths that are missing, changed or no longer generated, sorted.
 * @throws Error when there is nothing to write: an empty set means that the generator is broken.
 */
export function writeOut(outDir: string, files: GeneratedFiles, { check }: { check: boolean }): string[] {
  if (files.size === 0) throw new Error(`nothing was generated for ${outDir}`);
  const present = existsSync(outDir) ? filesBelow(outDir) : [];
  const stale = [
    ...[...files].filter(([path, text]) => textOf(join(outDir, path)) !== text).map(([path]) => path),
    ...present.filter((path) => !files.has(path)),
  ].toSorted();
  if (check) return stale;
  for (const path of stale) {
    const text = files.get(path);
    const target = join(outDir, path);
    if (text === undefined) {
      rmSync(target);
      continue;
    }
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return stale;
}

/**
 * Body of a generate script: `--check` exits 1 and names stale files.
 * @returns the process's exit code.
 */
export function runGenerator(outDir: string, files: GeneratedFiles, args: readonly string[]): number {
  const check = args.includes('--check');
  const stale = writeOut(outDir, files, { check });
  for (const path of stale)
    console.error(`${check ? 'stale' : 'wrote'} ${join(basename(dirname(outDir)), basename(outDir), path)}`);
  if (check && stale.length > 0) console.error('run "npm run generate" and commit the result');
  return check && stale.length > 0 ? 1 : 0;
}

const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/'));
