import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../store/embedded/semaphore.ts';

describe('a semaphore', () => {
  it('lets as many run as it has permits, and the others in the order of their arrival', async () => {
    const semaphore = createSemaphore({ running: 2, waiting: 10 });
    const started: number[] = [];
    const acquire = async (id: number): Promise<() => void> => {
      const release = await semaphore.acquire();
      started.push(id);
      return release;
    };
    const [first, , third, fourth] = [acquire(1), acquire(2), acquire(3), acquire(4)];
    const release = await first;
    await new Promise(setImmediate);
    expect(started).toEqual([1, 2]);
    release();
    release();
    (await third)();
    await fourth;
    expect(started).toEqual([1, 2, 3, 4]);
  });

  it('refuses more callers than may wait', async () => {
    const semaphore = createSemaphore({ running: 1, waiting: 1 });
    const release = await semaphore.acquire();
    const waiting = semaphore.acquire();
    await expect(semaphore.acquire()).rejects.toMatchObject({ clickhouseCode: 202 });
    release();
    (await waiting)();
    (await semaphore.acquire())();
  });
});
