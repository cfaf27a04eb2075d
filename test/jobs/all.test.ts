import { expect, it } from 'vitest';
import { allJobs, type JobParts } from '../../jobs/all.ts';
import { JOBS } from '../../schemas/names.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Says nothing, as a store that hangs; a command hears of its signal. */
const SILENT: JobParts['store'] = {
  query: () => new Promise(() => undefined),
  command: (_sql, { signal } = {}) =>
    new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
    ),
};
const evaluation = { run: () => Promise.resolve(false), standBy: () => Promise.resolve() };
const jobsOn = (store: JobParts['store']) => allJobs({ evaluation, store, clock: createFakeClock() });

it('has the evaluation of the rules first, and ten seconds between two jobs', () => {
  const jobs = jobsOn(SILENT);
  expect(jobs.map(({ name }) => name)).toEqual([JOBS.evaluation, JOBS.payments, JOBS.findings]);
  expect(jobs.map(({ delayMs }) => delayMs)).toEqual([3_000, 13_000, 23_000]);
});

it.each([JOBS.payments, JOBS.findings])(
  'the job to %s ends by its signal, while the store hangs',
  async (name) => {
    const controller = new AbortController();
    const run = jobsOn(SILENT)
      .find((one) => one.name === name)
      ?.run(controller.signal);
    controller.abort(new Error('that is enough'));
    await expect(run).rejects.toThrow('that is enough');
  },
);
