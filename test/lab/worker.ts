import { parentPort, workerData } from 'node:worker_threads';
import { type RunOptions, scoreRun } from './runs.ts';
import type { Classes } from './twins.ts';

/** Scores one run after the other in a thread of its own. */
const classes = workerData as Classes;
parentPort?.on('message', (options: RunOptions) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort?.postMessage(scoreRun(options, classes));
});
