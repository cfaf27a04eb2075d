import { expect, it } from 'vitest';
import type { Child } from '../../../store/embedded/child-process.ts';
import { supervise } from '../../../store/embedded/supervisor.ts';

it('gives up a replacement that is still starting when the store is to stop', async () => {
  const { promise: exited, resolve: exit } = Promise.withResolvers<string>();
  const sandboxState = { active: false, reason: 'a test' } as const;
  const first: Child = {
    port: 1,
    pid: 1,
    version: '',
    sandboxState,
    exited,
    stuckOn: () => null,
    stop: async () => undefined,
  };
  const { promise: starting, resolve: started } = Promise.withResolvers<void>();
  const supervisor = supervise(first, {
    // Ends by the signal alone.
    start: (signal) => {
      started();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')));
      });
    },
    maxRestarts: 3,
    onStuck: () => expect.unreachable(),
    onReplaced: () => expect.unreachable(),
    log: () => undefined,
  });
  exit('SIGKILL');
  await starting;
  expect(await supervisor.release()).toBe(first);
});

it('does not count against the store what a statement of a reader did', async () => {
  const sandboxState = { active: false, reason: 'a test' } as const;
  let started = 0;
  const stuck: string[] = [];
  const fifth = Promise.withResolvers<void>();
  const stuckChild = (): Child => ({
    port: 1,
    pid: 1,
    version: '',
    sandboxState,
    exited: started < 5 ? Promise.resolve('SIGKILL') : new Promise(() => undefined),
    stuckOn: () => 'a statement',
    stop: async () => undefined,
  });
  const supervisor = supervise(stuckChild(), {
    start: async () => {
      started += 1;
      if (started === 5) fifth.resolve();
      return stuckChild();
    },
    maxRestarts: 1,
    onStuck: (statement) => stuck.push(statement),
    onReplaced: () => undefined,
    log: () => undefined,
  });
  await fifth.promise;
  expect(stuck).toHaveLength(5);
  await supervisor.release();
});
