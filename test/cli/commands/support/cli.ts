import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { plainEnvironment } from '../../../support/collector-process.ts';

export const MAIN = fileURLToPath(new URL('../../../../cli/main.ts', import.meta.url));

export interface CliOptions {
  /** On top of PATH, and of a collector address where nothing listens. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** On a terminal: leave out what goes to stderr. @default false */
  readonly dropStderr?: boolean;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real command line in a process of its own, to its end. */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = startCli(args, options);
  child.stdin?.end(options.input ?? '');
  const [stdout, stderr] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    child.exitCode === null ? once(child, 'exit') : undefined,
  ]);
  return { code: child.exitCode, stdout, stderr };
}

/** The same on a terminal: stdout and stderr together, as a person sees them, with line ends as `\n`. */
export async function cliOnTerminal(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const command = [process.execPath, MAIN, ...args]
    .map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  const redirect = options.dropStderr === true ? ' 2>/dev/null' : '';
  const child = spawn('script', ['-qec', command + redirect, '/dev/null'], {
    env: { ...environment(options), TERM: 'xterm-256color', COLUMNS: '120' },
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout: stdout.replaceAll('\r\n', '\n'), stderr };
}

/** Starts it and leaves it running; the caller ends it. */
export function startCli(args: readonly string[], options: CliOptions = {}): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], {
    env: environment(options),
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Resolves with all of stdout or stderr so far once it matches. Rejects when the process ends first. */
export function untilPrinted(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = '';
  child[stream]?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (pattern.test(printed)) resolve(printed);
  });
  child.once('exit', (code) => reject(new Error(`ended with ${code} before ${pattern}: ${printed}`)));
  return promise;
}

function environment(options: CliOptions): Record<string, string> {
  return { ...plainEnvironment(), GATEWATCH_HTTP_PORT: '1', ...options.env };
}
