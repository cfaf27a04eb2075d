import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilItSucceeds } from '../../schemas/until-it-succeeds.ts';

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** The page and what it loads. */
export interface PageFiles {
  /** Changes when any file does. It is part of the files' addresses, so a browser may keep them for ever. */
  readonly version: string;
  readonly html: string;
  readonly assets: ReadonlyMap<string, PageFile>;
}

export interface PageOptions {
  /** Folder of the built page, in the published package and in the image. */
  readonly folder: string;
  /** The program that builds it. @default the one of this checkout */
  readonly builder?: string;
  /** Ends a build that is under way. */
  readonly signal?: AbortSignal;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** There in a checkout only: neither the published package nor the image has it. */
const BUILDER = fileURLToPath(new URL('../build-page.ts', import.meta.url));
const BUILD_TIMEOUT_MS = 60_000;

/**
 * The page. In a checkout it is built from its sources at the first request, in a process of its own: the
 * bundler takes 100 MB and half a second, which a collector whose console nobody opens never spends.
 * Elsewhere it is read from its folder, at once.
 * @returns a function that rejects when the build fails; called again, it builds again
 * @throws Error when there is neither a builder with its bundler nor a built page
 */
export function openPage({ folder, builder = BUILDER, signal }: PageOptions): () => Promise<PageFiles> {
  if (existsSync(builder) && findPackageJSON('rolldown', import.meta.url) !== undefined)
    return untilItSucceeds(async () => toPageFiles(await build(builder, signal)));
  if (!existsSync(folder)) throw new Error(`${folder} is missing: "npm run build" makes it`);
  const page = toPageFiles(readFolder(folder));
  return () => Promise.resolve(page);
}

/** @param files texts by name: `index.html` and all that it loads */
export function toPageFiles(files: Readonly<Record<string, string>>): PageFiles {
  const assets = new Map<string, PageFile>();
  const hash = createHash('sha256');
  for (const [name, body] of Object.entries(files).toSorted()) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    assets.set(name, { type, body });
    hash.update(name).update(body);
  }
  const version = hash.digest('hex').slice(0, 12);
  const html = files['index.html'];
  if (html === undefined) throw new Error('the page has no index.html');
  return { version, html: html.replaceAll('{{assets}}', `/console/assets/${version}`), assets };
}

function readFolder(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path, 'utf8')]),
  );
}

function build(builder: string, signal: AbortSignal | undefined): Promise<Record<string, string>> {
  const child = fork(builder, [], {
    // Not those of this process: an inspector has its port, a test runner its loader.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: BUILD_TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
  let complaint = '';
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (complaint = (complaint + text).slice(-4_000)));
  return new Promise((resolve, reject) => {
    child.once('message', (files) => resolve(files as Record<string, string>));
    child.once('error', reject);
    child.once('close', (code, ended) =>
      reject(new Error(`the page could not be built (${ended ?? code}): ${complaint.trim()}`)),
    );
  });
}
