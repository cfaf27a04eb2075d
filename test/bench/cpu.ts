import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of processes in milliseconds since each began, by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/**
 * The CPU time of this process and all that descend from it, the kernel's part included; empty where there is
 * no /proc.
 */
export function cpuTimes(): CpuTimes {
  const times = new Map<number, number>();
  const todo = [process.pid];
  for (const pid of todo) {
    try {
      // The name, in brackets, may hold spaces.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      times.set(pid, (Number(fields[11]) + Number(fields[12])) * TICK_MS);
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
