import { describe, expect, it } from 'vitest';
import { createStoreProbe } from '../../store/store-probe.ts';
import { createFakeClock, turn } from '../support/fake-clock.ts';

describe('a probe of the store', () => {
  it('says within seconds that the store refuses or hangs, and that it is back', async () => {
    const clock = createFakeClock();
    let answer = async (): Promise<unknown> => 1;
    const probe = createStoreProbe({ ask: () => answer(), clock });
    await turn();
    expect(probe.problem()).toBeNull();

    answer = async () => Promise.reject(new Error('connection refused'));
    await clock.advance(3_000);
    expect(probe.problem()).toBe('connection refused');

    let release = (): void => undefined;
    answer = () => new Promise<void>((resolve) => (release = resolve));
    await clock.advance(3_000);
    expect(probe.problem()).toBe('connection refused');
    await clock.advance(6_000);
    expect(probe.problem()).toBe('no answer to a query for 6 s');

    answer = async () => 1;
    release();
    await turn();
    expect(probe.problem()).toBeNull();
    probe.stop();
    expect(clock.pending()).toBe(0);
  });

  it('asks one question at a time', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const probe = createStoreProbe({
      ask: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
      clock,
    });
    await clock.advance(60_000);
    expect(asked).toBe(1);
    expect(probe.problem()).toContain('60 s');
    probe.stop();
  });
});
