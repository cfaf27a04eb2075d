import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** The page and what it loads. */
export interface PageFiles {
  /** Changes when any file does: it is part of the files' addresses, which so may be kept for ever. */
  readonly version: string;
  readonly html: string;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Read from their packages, not copied: path below the assets, package, file within it. */
const LIBRARY_FILES = [
  ['lib/uplot.js', 'uplot', 'dist/uPlot.esm.js'],
  ['lib/uplot.css', 'uplot', 'dist/uPlot.min.css'],
] as const;

/**
 * Reads the generated page once.
 * @throws Error when the folder or a library is missing
 */
export function readPageFiles(folder: string): PageFiles {
  const assets = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[extname(entry.name)];
    if (entry.isFile() && type !== undefined)
      assets.set(path.slice(folder.length + 1).replaceAll('\\', '/'), { type, body: readFileSync(path) });
  }
  for (const [name, library, file] of LIBRARY_FILES) {
    const manifest = findPackageJSON(library, import.meta.url);
    if (manifest === undefined) throw new Error(`the library ${library} is not installed`);
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    assets.set(name, { type, body: readFileSync(join(dirname(manifest), file)) });
  }
  const hash = createHash('sha256');
  for (const [name, { body }] of [...assets].toSorted()) hash.update(name).update(body);
  const version = hash.digest('hex').slice(0, 12);
  const html = readFileSync(join(folder, 'index.html'), 'utf8').replaceAll(
    '{{assets}}',
    `/console/assets/${version}`,
  );
  return { version, html, assets };
}
