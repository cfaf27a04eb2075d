import { createRandom } from '../../../sandbox/random.ts';
import type { Arm } from '../arm.ts';
import type { Recorder } from './fault.ts';

/**
 * The store applied an insert, and its answer is lost: the one fault after which nobody can know. Drawn among
 * all inserts until there were enough of them.
 */
export function swallowAnswers(
  arm: Arm,
  wanted: number,
  record: Recorder,
): { count(): number; stop(): void } {
  const random = createRandom(arm.seed, 'swallow');
  let count = 0;
  let isOn = true;
  for (const { links } of arm.collectors) {
    if (links.store === null) continue;
    links.store.decide = (moment, { name, status }) => {
      const isAnswer = isOn && moment === 'answer' && status === 200 && name.startsWith('insert ');
      if (!isAnswer || count >= wanted || !random.chance(SHARE)) return false;
      count += 1;
      record.happened('swallowed answer', 'status 200 of an insert reached the proxy and went no further');
      return true;
    };
  }
  return { count: () => count, stop: () => void (isOn = false) };
}

const SHARE = 0.05;
