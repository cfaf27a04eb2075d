import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createLifecycle } from '../../collector/lifecycle.ts';

function scene() {
  const logged: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
  return { life: createLifecycle(log), logged };
}

describe('the life of a process', () => {
  it('ends by stopping what was started, the last first, one after another', async () => {
    const { life } = scene();
    const steps: string[] = [];
    for (const name of ['sink', 'poller', 'listener']) {
      life.onStop(async () => {
        steps.push(`${name} stops`);
        await Promise.resolve();
        steps.push(`${name} stopped`);
      });
    }
    await life.stop('SIGTERM');
    expect(steps).toEqual(
      ['listener', 'poller', 'sink'].flatMap((name) => [`${name} stops`, `${name} stopped`]),
    );
    expect(await life.done).toEqual({ exitCode: 0, reason: 'SIGTERM' });
  });

  it('ends once, however often it is stopped, and all callers wait for the end', async () => {
    const { life } = scene();
    let release = () => {};
    let count = 0;
    life.onStop(() => ((count += 1), new Promise<void>((resolve) => (release = resolve))));
    const stops = [life.stop('first'), life.stop('second', 1)];
    life.fail('third');
    expect(life.signal.aborted).toBe(true);
    release();
    await Promise.all(stops);
    expect({ count, ended: await life.done }).toEqual({ count: 1, ended: { exitCode: 0, reason: 'first' } });
  });

  it('goes on stopping when a part cannot be stopped', async () => {
    const { life, logged } = scene();
    let stopped = false;
    life.onStop(async () => void (stopped = true));
    life.onStop(() => {
      throw new Error('stuck');
    });
    await life.stop('SIGINT');
    expect(stopped).toBe(true);
    expect(logged.map(({ msg }) => msg)).toContain('a part could not be stopped');
  });

  it('ends with exit code 1 when something cannot be mended', async () => {
    const { life } = scene();
    life.fail('the store has left');
    expect(await life.done).toEqual({ exitCode: 1, reason: 'the store has left' });
  });

  it('stops at once what is started while it ends: a start that was under way leaves nothing running', async () => {
    const { life } = scene();
    await life.stop('SIGTERM');
    let stopped = false;
    life.onStop(async () => void (stopped = true));
    expect(stopped).toBe(true);
  });
});
