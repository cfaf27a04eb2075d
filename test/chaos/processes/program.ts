import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** One end of a process. */
export interface Ending {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  /** Did the harness ask for it? */
  readonly asked: boolean;
  readonly livedMs: number;
  /** What it said last, when nobody asked it to end. */
  readonly lastWords: readonly string[];
}

export interface ProgramOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: () => Readonly<Record<string, string>>;
  /** Each line of its output. */
  readonly onLine?: (line: string) => void;
}

/** A process that a supervisor starts again whenever it ends, as systemd or Kubernetes would. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly isRunning: boolean;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  readonly endings: readonly Ending[];
  start(): void;
  /** SIGKILL, at once. It is started again by the supervisor, by default. */
  kill(how?: { stayDown?: boolean }): void;
  /** SIGTERM, and not started again. Resolves with the exit code. */
  stop(): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, without waiting and without changing what the supervisor does. */
  terminate(): void;
  onStart(listener: () => void): void;
  /** Resolves when the process that runs now has ended. */
  ended(): Promise<void>;
}

const KEPT_LINES = 30;
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function createProgram(options: ProgramOptions): Program {
  const endings: Ending[] = [];
  const starts: (() => void)[] = [];
  let child: ChildProcess | null = null;
  let startedAtMs = 0;
  let keepUp = true;
  let asked = false;
  let over: Promise<void> = Promise.resolve();

  function start(): void {
    if (child !== null) return;
    keepUp = true;
    asked = false;
    startedAtMs = performance.now();
    const lines: string[] = [];
    const started = spawn(process.execPath, [...options.args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    running.add(started);
    for (const stream of [started.stdout, started.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > KEPT_LINES) lines.shift();
        options.onLine?.(line);
      });
    }
    over = watch(started, lines);
    for (const listener of starts) listener();
  }

  async function watch(started: ChildProcess, lines: readonly string[]): Promise<void> {
    const [code, signal] = (await once(started, 'exit')) as [number | null, NodeJS.Signals | null];
    running.delete(started);
    child = null;
    endings.push({
      signal,
      code,
      asked,
      livedMs: performance.now() - startedAtMs,
      lastWords: asked ? [] : [...lines],
    });
    if (keepUp) setTimeout(() => keepUp && start(), 100);
  }

  return {
    name: options.name,
    get pid() {
      return child?.pid ?? 0;
    },
    get isRunning() {
      return child !== null;
    },
    get startedAtMs() {
      return startedAtMs;
    },
    endings,
    start,
    kill({ stayDown = false } = {}) {
      asked = true;
      keepUp &&= !stayDown;
      child?.kill('SIGKILL');
    },
    async stop() {
      asked = true;
      keepUp = false;
      child?.kill('SIGTERM');
      await over;
      return endings.at(-1)?.code ?? null;
    },
    signal: (signal) => void child?.kill(signal),
    terminate() {
      asked = true;
      child?.kill('SIGTERM');
    },
    onStart: (listener) => void starts.push(listener),
    ended: () => over,
  };
}
