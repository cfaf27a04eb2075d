import { readFileSync } from 'node:fs';
import { spreadOf, type Spread } from './spread.ts';

export interface ObserverOptions {
  /** Base address of the collector's own interface. */
  readonly url: string;
  /** Process whose memory is watched, its children included. */
  readonly pid: number;
  /** @default 250 */
  readonly everyMs?: number;
}

export interface Observed {
  readonly looks: number;
  /** Looks at which `/readyz` did not answer 200, by the problems that it named, or by what came instead. */
  readonly notReady: Readonly<Record<string, number>>;
  readonly latencyMs: Spread;
  /** Resident memory in MiB: of the process, and of it with its children. */
  readonly memoryMb: { readonly first: number; readonly most: number; readonly last: number };
  readonly memoryWithChildrenMb: { readonly first: number; readonly most: number; readonly last: number };
}

const DEADLINE_MS = 10_000;

export interface Observer {
  stop(): Promise<Observed>;
}

/** Asks `/readyz` again and again, and looks at the memory of the process (Linux). */
export function startObserver({ url, pid, everyMs = 250 }: ObserverOptions): Observer {
  const notReady: Record<string, number> = {};
  const latencies: number[] = [];
  const own: number[] = [];
  const all: number[] = [];
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const startMs = performance.now();
    const said = await askReadiness(url);
    latencies.push(performance.now() - startMs);
    if (said !== 'ready') notReady[said] = (notReady[said] ?? 0) + 1;
    own.push(residentMb(pid));
    all.push(processTree(pid).reduce((sum, one) => sum + residentMb(one), 0));
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await look();
  })();
  return {
    async stop() {
      stopping.abort();
      await done;
      return {
        looks: latencies.length,
        notReady,
        latencyMs: spreadOf(latencies),
        memoryMb: courseOf(own),
        memoryWithChildrenMb: courseOf(all),
      };
    },
  };
}

async function askReadiness(url: string): Promise<string> {
  try {
    const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const { problems } = (await reply.json()) as { problems?: unknown };
    // Numbers differ from look to look.
    return reply.ok ? 'ready' : JSON.stringify(problems ?? reply.status).replaceAll(/\d+/g, 'N');
  } catch (error) {
    return (error as Error).name;
  }
}

const courseOf = (values: readonly number[]) => ({
  first: values[0] ?? 0,
  most: Math.max(0, ...values),
  last: values.at(-1) ?? 0,
});

function processTree(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024);
}

/** A process that has just ended counts for nothing. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
