import { expect, it } from 'vitest';
import { createObserver } from '../../../alerts/evaluate/observer.ts';
import type { RuleGroupName } from '../../../alerts/rules/rule.ts';

const MINUTE = 60_000;
/** An instant at which all rules are due; a minute later only those of short windows are. */
const TEN = Date.UTC(2026, 10, 22, 10, 10);

/** A pass of which the test says which groups it cannot evaluate. */
function played() {
  const asked: string[] = [];
  let broken: readonly RuleGroupName[] = [];
  const observe = createObserver(async (_asOfMs, groups) => {
    asked.push(groups.join('+'));
    if (groups.some((name) => broken.includes(name))) throw new Error('it took too long');
    return [];
  });
  return { observe, asked, breaks: (...groups: RuleGroupName[]) => (broken = groups) };
}

it('evaluates the other rules when those of long windows fail, and these once more a minute later', async () => {
  const { observe, asked, breaks } = played();
  breaks('slow');
  const first = await observe(TEN);
  expect(first).toMatchObject({ groups: ['fast'], failure: expect.any(Error) as Error });
  breaks();
  expect(await observe(TEN + MINUTE)).toMatchObject({ groups: ['fast', 'slow'], failure: null });
  await observe(TEN + 2 * MINUTE);
  expect(asked).toEqual(['fast+slow', 'fast', 'fast+slow', 'fast']);
});

it('does not try again every minute what goes on failing', async () => {
  const { observe, asked, breaks } = played();
  breaks('slow');
  for (const minute of [0, 1, 2]) await observe(TEN + minute * MINUTE);
  expect(asked).toEqual(['fast+slow', 'fast', 'fast+slow', 'fast', 'fast']);
});

it('still owes the second try when nothing could be evaluated meanwhile', async () => {
  const { observe, asked, breaks } = played();
  breaks('slow');
  await observe(TEN);
  breaks('slow', 'fast');
  await expect(observe(TEN + MINUTE)).rejects.toThrow('it took too long');
  breaks();
  await observe(TEN + 2 * MINUTE);
  expect(asked).toEqual(['fast+slow', 'fast', 'fast+slow', 'fast', 'fast+slow']);
});
