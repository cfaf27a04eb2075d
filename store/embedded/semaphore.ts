import { clickhouseError } from './clickhouse-error.ts';

/** Lets a limited number of statements run; the others wait in order of arrival. */
export interface Semaphore {
  /** Resolves, once there is a permit, to the function that gives it back. */
  acquire(): Promise<() => void>;
}

/** @throws ClickHouseError 202 from `acquire` when `waiting` statements wait already. */
export function createSemaphore(limits: { readonly running: number; readonly waiting: number }): Semaphore {
  let running = 0;
  const queue: (() => void)[] = [];

  function releaseOnce(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    };
  }

  return {
    async acquire() {
      if (running < limits.running) {
        running++;
        return releaseOnce();
      }
      if (queue.length >= limits.waiting) {
        throw clickhouseError(
          202,
          `Too many simultaneous queries. Maximum: ${limits.running + limits.waiting}`,
        );
      }
      await new Promise<void>((admitted) => queue.push(admitted));
      return releaseOnce();
    },
  };
}
