import { expect, it } from 'vitest';
import type { Child } from '../../../store/embedded/child-process.ts';
import { supervise } from '../../../store/embedded/supervisor.ts';

it('gives up a replacement that is still starting when the store is to stop', async () => {
  const { promise: exited, resolve: exit } = Promise.withResolvers<string>();
  const sandboxState = { active: false, why: 'a test' } as const;
  const first: Child = { port: 1, pid: 1, version: '', sandboxState, exited, stop: async () => undefined };
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
    onReplaced: () => expect.unreachable(),
    log: () => undefined,
  });
  exit('SIGKILL');
  await starting;
  expect(await supervisor.release()).toBe(first);
});
