import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { cacheFolder } from './maven-jars.ts';

/** A program to run, or the reason why there is none. */
export type GoProgram = { readonly path: string } | { readonly reason: string };

export interface GoProgramOptions {
  /** A folder of `test/support/go`. */
  readonly name: string;
  /** The package to build. @default the folder's own */
  readonly package?: string;
}

/**
 * A program of `test/support/go`, built with the Go on the PATH once for each content of its files into the
 * cache folder, with Go's own progress on standard error. Several processes may call it at once: each builds
 * into a folder of its own, and the first rename wins.
 */
export async function buildGoProgram({ name, package: what = '.' }: GoProgramOptions): Promise<GoProgram> {
  const source = join(import.meta.dirname, 'go', name);
  const hash = createHash('sha256').update(what);
  for (const file of (await readdir(source)).toSorted()) hash.update(await readFile(join(source, file)));
  const home = join(cacheFolder(), `${name}-${hash.digest('hex').slice(0, 16)}`);
  const path = join(home, name);
  if (existsSync(path)) return { path };
  await mkdir(cacheFolder(), { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    console.error(`Building ${name} from Go modules: minutes, the first time.`);
    const reason = await build(source, what, join(folder, name));
    if (reason !== null) return { reason: `${name} cannot be built from Go modules: ${reason}` };
    await rename(folder, home).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
    return { path };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves with the reason when it cannot be built, else with null. */
async function build(source: string, what: string, output: string): Promise<string | null> {
  // Two packages at a time: a machine that does other work beside it stays usable.
  const args = ['build', '-p', '2', '-trimpath', '-ldflags=-s -w', '-o', output, what];
  const go = spawn('go', args, { cwd: source, stdio: ['ignore', 'ignore', 'pipe'] });
  let last = '';
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    last = text.trim().split('\n').at(-1) || last;
  });
  try {
    const [code] = (await once(go, 'close')) as [number | null];
    return code === 0 ? null : last;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'there is no Go on the PATH';
    throw error;
  }
}
