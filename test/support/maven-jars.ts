import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FETCH_TIMEOUT_MS = 300_000;

/** Where test downloads live: `GATEWATCH_CACHE_DIR`, or `.cache` in the project. */
export function cacheFolder(): string {
  return process.env['GATEWATCH_CACHE_DIR'] ?? path.join(import.meta.dirname, '..', '..', '.cache');
}

/** What is fetched from Maven Central. */
export interface MavenJars {
  /** In errors. */
  readonly what: string;
  /** Folder in the cache, one for each version. */
  readonly home: string;
  /** Elements `<dependency>`. */
  readonly dependencies: string;
}

/**
 * Fetches jars and their runtime dependencies, once. Returns the folder of jars. Several processes may call
 * it at once: each fetches into a folder of its own and the first rename wins. Throws when Maven fails, with
 * Maven's own words.
 */
export async function fetchJars({ what, home, dependencies }: MavenJars): Promise<string> {
  const jars = path.join(home, 'jars');
  if (existsSync(jars)) return jars;
  await mkdir(home, { recursive: true });
  const attempt = await mkdtemp(path.join(home, 'fetch-'));
  try {
    await writeFile(path.join(attempt, 'pom.xml'), pom(dependencies));
    await copyDependencies(what, attempt);
    await rename(path.join(attempt, 'jars'), jars).catch((error: unknown) => {
      if (!existsSync(jars)) throw error;
    });
  } finally {
    await rm(attempt, { recursive: true, force: true });
  }
  return jars;
}

async function copyDependencies(what: string, folder: string): Promise<void> {
  const args = ['-B', '-q', '-f', path.join(folder, 'pom.xml'), 'dependency:copy-dependencies'];
  args.push('-DincludeScope=runtime', `-DoutputDirectory=${path.join(folder, 'jars')}`);
  try {
    await run('mvn', args, { timeout: FETCH_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const output = (error as { stdout?: string }).stdout ?? '';
    const reason = output.split('\n').find((line) => line.includes('[ERROR]')) ?? String(error);
    throw new Error(`Fetching ${what} with mvn failed: ${reason.slice(0, 400)}`, { cause: error });
  }
}

const pom = (dependencies: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>gatewatch.test</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>${dependencies}</dependencies>
</project>
`;
