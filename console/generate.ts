import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GeneratedFiles, runGenerator } from '../dashboards/house/write-out.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));

/** Bare names that the page imports, and the file that the server serves for each. */
const LIBRARIES: Readonly<Record<string, string>> = { uplot: 'lib/uplot.js' };

/**
 * The page as a browser takes it: modules without types, each where its source lies. No bundler: what is
 * served can be read, and a difference in a review shows what changed.
 */
export function generatePage(): GeneratedFiles {
  const files = new Map<string, string>();
  for (const path of filesOf(PAGE)) {
    const text = readFileSync(join(PAGE, path), 'utf8');
    if (path.endsWith('.ts')) files.set(path.replace(/\.ts$/, '.js'), toJavaScript(path, text));
    else if (!path.endsWith('.json')) files.set(path, text);
  }
  const html = files.get('index.html') ?? '';
  files.set('index.html', html.replace('{{preload}}', preloads([...files.keys()])));
  return files;
}

function toJavaScript(path: string, source: string): string {
  const depth = path.split('/').length - 1;
  const toRoot = depth === 0 ? './' : '../'.repeat(depth);
  return `${stripTypeScriptTypes(source)
    .replace(/(from\s+'\.{1,2}\/[^']*)\.ts'/g, "$1.js'")
    .replace(/from '([a-z][\w-]*)'/g, (whole, name: string) =>
      LIBRARIES[name] === undefined ? whole : `from '${toRoot}${LIBRARIES[name]}'`,
    )
    // Types leave blanks behind.
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** All modules at once: a browser would find them one import after the other. */
function preloads(paths: readonly string[]): string {
  const modules = paths.filter(
    (path) => path.endsWith('.js') && path !== 'theme-first.js' && path !== 'model/types.js',
  );
  return [...modules, ...Object.values(LIBRARIES)]
    .toSorted()
    .map((path) => `    <link rel="modulepreload" href="{{assets}}/${path}" />`)
    .join('\n');
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.slice(folder.length + 1).replaceAll('\\', '/'), entry.name))
    .toSorted();

if (import.meta.main)
  process.exitCode = runGenerator(
    fileURLToPath(new URL('out', import.meta.url)),
    generatePage(),
    process.argv.slice(2),
  );
