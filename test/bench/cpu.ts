import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** CPU time of processes in milliseconds since each began, by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** Shorter pauses can be a process that waits for another. */
const QUIET_MS = 400;
const PATIENCE_MS = 60_000;

/** The CPU time of one process since it began; throws where it or /proc is not there. */
function cpuTimeOf(pid: number): number {
  // The name, in brackets, may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/**
 * The CPU time of this process and all that descend from it, the kernel's part included; empty where there is
 * no /proc.
 */
export function cpuTimes(): CpuTimes {
  const times = new Map<number, number>();
  const todo = [process.pid];
  for (const pid of todo) {
    try {
      times.set(pid, cpuTimeOf(pid));
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
        if (children !== '') todo.push(...children.split(' ').map(Number));
      }
    } catch {
      // Gone meanwhile, or another system.
    }
  }
  return times;
}

/** What was used between two readings by the processes that `of` names. */
export function cpuBetween(before: CpuTimes, after: CpuTimes, of: (pid: number) => boolean): number {
  let sum = 0;
  for (const [pid, time] of after) if (of(pid)) sum += time - (before.get(pid) ?? 0);
  return sum;
}

/**
 * Waits until a process does nothing any more, from the outside: a question would be work for it.
 *
 * @returns when it was last seen at work, by `performance.now()`
 */
export async function untilIdle(pid: number): Promise<number> {
  const begun = performance.now();
  let lastAt = begun;
  let used = cpuTimeOf(pid);
  while (performance.now() - lastAt < QUIET_MS) {
    await sleep(20);
    const now = cpuTimeOf(pid);
    if (now > used) lastAt = performance.now();
    used = now;
    if (lastAt - begun > PATIENCE_MS) throw new Error(`Process ${pid} is still at work after a minute.`);
  }
  return lastAt;
}
