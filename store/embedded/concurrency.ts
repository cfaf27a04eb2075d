import { clickhouseError } from './clickhouse-error.ts';

/** Lets a limited number of statements run; the others wait in order of arrival. */
export interface Gate {
  /** Resolves, once there is a place, to the function that gives the place back. */
  enter(): Promise<() => void>;
}

/** @throws ClickHouseError 202 from `enter` when `waiting` statements wait already. */
export function createGate(limits: { readonly running: number; readonly waiting: number }): Gate {
  let running = 0;
  const queue: (() => void)[] = [];

  function leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    };
  }

  return {
    async enter() {
      if (running < limits.running) {
        running++;
        return leaveOnce();
      }
      if (queue.length >= limits.waiting) {
        throw clickhouseError(
          202,
          `Too many simultaneous queries. Maximum: ${limits.running + limits.waiting}`,
        );
      }
      await new Promise<void>((admitted) => queue.push(admitted));
      return leaveOnce();
    },
  };
}
