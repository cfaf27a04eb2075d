import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { settlesWithin, sleep, untilAborted, withDeadline } from '../../schemas/deadline.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const late = (): string => 'late';

describe('a deadline', () => {
  it('gives what the work resolves to in time', async () => {
    expect(await withDeadline(Promise.resolve('done'), 60_000, late)).toBe('done');
    expect(await withDeadline(Promise.resolve(undefined), 60_000, late)).toBeUndefined();
  });

  it('passes on why the work failed in time', async () => {
    await expect(withDeadline(Promise.reject(new Error('broken')), 60_000, late)).rejects.toThrow('broken');
  });

  it('gives what stands for work that is late, or throws it', async () => {
    expect(await withDeadline(never(), 5, late)).toBe('late');
    const refuse = (): never => {
      throw new Error('too late');
    };
    await expect(withDeadline(never(), 5, refuse)).rejects.toThrow('too late');
  });

  it('is over when its signal is aborted, before or during the wait', async () => {
    expect(await withDeadline(Promise.resolve('done'), 60_000, late, AbortSignal.abort())).toBe('late');
    const giveUp = new AbortController();
    const waiting = withDeadline(never(), Infinity, late, giveUp.signal);
    giveUp.abort();
    expect(await waiting).toBe('late');
  });

  it('that is a signal alone is over with its reason', async () => {
    const giveUp = new AbortController();
    expect(await untilAborted(Promise.resolve('done'), giveUp.signal)).toBe('done');
    const waiting = untilAborted(never(), giveUp.signal);
    giveUp.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('without a limit lets the work take its time', async () => {
    const work = new Promise((resolve) => setTimeout(resolve, 20, 'done'));
    expect(await withDeadline(work, Infinity, late)).toBe('done');
  });

  it('beyond what a timer can count does not end at once', async () => {
    const work = new Promise((resolve) => setTimeout(resolve, 20, 'done'));
    expect(await withDeadline(work, 2 ** 31, late)).toBe('done');
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    await withDeadline(Promise.resolve(), 60_000, late, signal);
    await withDeadline(never(), 1, late, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('does not leave a late failure uncaught', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    expect(await withDeadline(promise, 1, late)).toBe('late');
    reject(new Error('nobody listens'));
    const gone = Promise.reject(new Error('failed before'));
    expect(await withDeadline(gone, 1, late, AbortSignal.abort())).toBe('late');
    await new Promise(setImmediate);
  });
});

describe('waiting for work to settle', () => {
  it('says whether it did in time, well or not', async () => {
    expect(await settlesWithin(Promise.resolve(), 60_000)).toBe(true);
    expect(await settlesWithin(Promise.reject(new Error('broken')), 60_000)).toBe(true);
    expect(await settlesWithin(never(), 5)).toBe(false);
  });
});

describe('sleeping', () => {
  it('lasts as long as it says', async () => {
    const started = performance.now();
    await sleep(20);
    expect(performance.now() - started).toBeGreaterThanOrEqual(18);
  });

  it('ends at once when its signal is aborted, before or during it', async () => {
    const started = performance.now();
    await sleep(60_000, AbortSignal.abort());
    const giveUp = new AbortController();
    const asleep = sleep(60_000, giveUp.signal);
    giveUp.abort();
    await asleep;
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
