import { createServer } from 'node:net';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../schemas/deadline.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CollectorProcess {
  readonly http: string;
  readonly store: string;
  /** SIGTERM, and waits for the end. Resolves with the exit code. */
  stop(): Promise<number>;
}

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const START_DEADLINE_MS = 60_000;

/**
 * Starts `gatewatch run` as its users do, and waits until it answers `/readyz`. Its log goes to `onLog`, a
 * line each; `onSpawn` gets what ends it, as it outlives its parent otherwise.
 */
export async function startCollectorProcess(
  node: string,
  configFile: string,
  env: Environment,
  onLog: (line: string) => void,
  onSpawn: (end: () => void) => void,
): Promise<CollectorProcess> {
  const child = spawn(node, ['--max-semi-space-size=8', MAIN, 'run', '--config', configFile], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
    // A Ctrl-C reaches every process of the terminal: the demo ends the collector when it has caught up.
    detached: true,
  });
  onSpawn(() => void child.kill('SIGTERM'));
  const ended = new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  const addresses = await firstAddresses(child, ended, onLog);
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await answers(`${addresses.http}/readyz`))) {
    if (Date.now() > deadline) throw new Error('the collector did not become ready; its log is above');
    await sleep(100);
  }
  return {
    ...addresses,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** The collector's log says where it listens. */
function firstAddresses(
  child: ChildProcess,
  ended: Promise<number>,
  onLog: (line: string) => void,
): Promise<{ http: string; store: string }> {
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`the collector ended with code ${code}; its log is above`)));
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      onLog(line);
      const found = /"http":"([^"]+)".*"store":"([^"]+)".*"msg":"running"/.exec(line);
      if (found !== null) resolve({ http: found[1] ?? '', store: found[2] ?? '' });
    });
  });
}

/** Runs another command of the CLI and gives what it printed. */
export async function runCommand(
  node: string,
  args: readonly string[],
  env: Environment,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(node, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const code = await new Promise<number>((resolve) => child.on('close', (value) => resolve(value ?? 1)));
  return { code, stdout, stderr };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/** The wanted port if it is free on loopback, else another one that is. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const { port: actual } = server.address() as { port: number };
      server.close(() => resolve(actual));
    });
  });
}
