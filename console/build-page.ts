import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * Bundles the page for a browser. With a folder as its argument it writes the files there, as `npm run build`
 * has it; without one it sends them to the process that forked it: a collector that runs from a checkout.
 * That one has no bundler in its own memory, and nothing is written, so a checkout may be read-only.
 */

const PAGE = fileURLToPath(new URL('page', import.meta.url));

/** Texts by name, as the server reads them: `index.html` and all that it loads. */
export async function buildPage(): Promise<Record<string, string>> {
  const [main, themeFirst] = await Promise.all([
    bundle('main', 'es'),
    // Runs before anything is drawn, so it is a classic script.
    bundle('theme-first', 'iife'),
  ]);
  return {
    'index.html': readFileSync(join(PAGE, 'index.html'), 'utf8'),
    'icon.svg': readFileSync(join(PAGE, 'icon.svg'), 'utf8'),
    'style.css': readFileSync(join(PAGE, 'style.css'), 'utf8'),
    'lib/uplot.css': readFileSync(packageFile('uplot', 'dist/uPlot.min.css'), 'utf8'),
    'main.js': main,
    'theme-first.js': themeFirst,
  };
}

async function bundle(name: string, format: 'es' | 'iife'): Promise<string> {
  await using build = await rolldown({
    input: join(PAGE, `${name}.ts`),
    platform: 'browser',
    // Types are checked elsewhere; here they are only left out.
    tsconfig: false,
    // A warning is a mistake in our own sources: an import that does not exist, for one.
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const { output } = await build.generate({ format, minify: true });
  const [{ code, moduleIds }, ...others] = output;
  if (others.length > 0) throw new Error(`${name} became ${output.length} files instead of one`);
  return licences(moduleIds) + code;
}

/** A library's licence asks for its text wherever the library goes, and minifying drops all comments. */
function licences(modules: readonly string[]): string {
  const libraries = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(libraries)]
    .toSorted()
    .map(
      (library) => `/*!\n${library}\n\n${readFileSync(packageFile(library, 'LICENSE'), 'utf8').trim()}\n*/\n`,
    )
    .join('');
}

function packageFile(library: string, path: string): string {
  const manifest = findPackageJSON(library, import.meta.url);
  if (manifest === undefined) throw new Error(`the library ${library} is not installed`);
  return join(dirname(manifest), path);
}

if (import.meta.main) {
  const files = await buildPage();
  const [folder] = process.argv.slice(2);
  if (folder === undefined) process.send?.(files, () => process.disconnect());
  else
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
}
