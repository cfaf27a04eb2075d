import { readFileSync } from 'node:fs';

/** What is looked at beside an attack, all the while. */
export interface Beside {
  /** Looks of `/readyz`. */
  readonly looks: number;
  /** Answers that were not 200, by what they said. */
  readonly notReady: Readonly<Record<string, number>>;
  readonly readyzP99Ms: number;
  /** Resident memory of the collector's own process, in MiB. */
  readonly memoryMiB: { readonly before: number; readonly most: number };
}

const EVERY_MS = 250;

/** Asks `/readyz` four times a second and reads the process's memory, until it is stopped. */
export function watchBeside(http: string, pid: number): { stop(): Promise<Beside> } {
  const before = memoryMiB(pid);
  const notReady: Record<string, number> = {};
  const tookMs: number[] = [];
  let most = before;
  const over = new AbortController();
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const startMs = performance.now();
      const said = await readyz(http);
      tookMs.push(performance.now() - startMs);
      if (said !== 'ok') notReady[said] = (notReady[said] ?? 0) + 1;
      most = Math.max(most, memoryMiB(pid));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  };
  const looking = look();
  return {
    async stop() {
      over.abort();
      await looking;
      return {
        looks: tookMs.length,
        notReady,
        readyzP99Ms: percentile(tookMs, 0.99),
        memoryMiB: { before, most },
      };
    },
  };
}

async function readyz(http: string): Promise<string> {
  try {
    const reply = await fetch(`${http}/readyz`, { signal: AbortSignal.timeout(10_000) });
    const { problems } = (await reply.json()) as { problems: Record<string, string> };
    // Numbers differ from look to look.
    return reply.ok ? 'ok' : JSON.stringify(problems).replaceAll(/\d+/g, 'N');
  } catch (error) {
    return (error as Error).name;
  }
}

export function memoryMiB(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}

/** 0 for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** A generator that gives the same numbers for the same seed, in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
