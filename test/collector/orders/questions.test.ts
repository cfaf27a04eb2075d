import { describe, expect, it } from 'vitest';
import type { Asked } from '../../../collector/orders/poller-contract.ts';
import { createScene, wait, type SceneOptions } from './scene.ts';

/** A poller with a backlog of orders that all are due. */
function busy(options: SceneOptions, orders = 200) {
  const scene = createScene(options);
  for (let index = 0; index < orders; index += 1) scene.watch(`poll-${index}`);
  const asked: Asked[] = [];
  const ask = (orderId: string, deadlineMs = 3_000) => {
    void scene.poller.ask(scene.order({ orderId }), deadlineMs).then((one) => asked.push(one));
  };
  const starts = (name: string) => scene.started.filter(({ orderId }) => orderId.startsWith(name));
  return { ...scene, ask, asked, starts };
}

describe('a question about an order', () => {
  it('is asked before all that is due, and counts against the same budget', async () => {
    const { clock, ask, asked, starts } = busy({ policy: { requestsPerSecond: 10 } });
    await clock.advance(100);
    expect(starts('poll')).toHaveLength(10);
    ask('question');
    await clock.advance(1_000);
    expect(starts('question')).toMatchObject([{ atMs: 1_050 }]);
    expect(starts('poll')).toHaveLength(19);
    expect(asked).toMatchObject([{ asked: true, reply: { outcome: 'ok' } }]);
  });

  it('leaves half of the budget to what is polled, however many are asked', async () => {
    const { clock, ask, asked, starts } = busy({ policy: { requestsPerSecond: 10 } });
    for (let index = 0; index < 100; index += 1) ask(`question-${index}`);
    await clock.advance(10_500);
    expect(starts('poll').length).toBeGreaterThanOrEqual(45);
    expect(asked.filter((one) => one.asked).length).toBeLessThanOrEqual(20);
    // Those whose time ran out got an answer.
    expect(asked).toHaveLength(100);
    expect(asked.at(-1)).toEqual({ asked: false, reason: 'budget' });
  });

  it('does not wait for polls that the gateway leaves without an answer', async () => {
    const { clock, ask, asked } = busy({
      policy: { concurrency: 4 },
      answer: ({ orderId }, clock) => (orderId === 'question' ? {} : wait(clock, 60_000).then(() => ({}))),
    });
    await clock.advance(1_000);
    ask('question');
    await clock.advance(10);
    expect(asked).toMatchObject([{ asked: true }]);
  });

  it('informs the circuits, which keep it from asking in vain', async () => {
    let refuses = true;
    const { clock, ask, asked, poller } = busy(
      { answer: () => (refuses ? { httpStatus: 401, outcome: 'unauthorized', body: null } : {}) },
      0,
    );
    for (const id of ['a', 'b', 'c', 'd']) {
      ask(id);
      await clock.advance(10);
    }
    expect(asked[3]).toEqual({ asked: false, reason: 'circuit_open' });
    expect(poller.status()).toMatchObject({ circuitsOpen: 1, requests: 3 });
    refuses = false;
    await clock.advance(31_000);
    ask('e');
    await clock.advance(10);
    expect(asked[4]).toMatchObject({ asked: true });
    expect(poller.status()).toMatchObject({ circuitsOpen: 0 });
  });

  it('respects the pause that the gateway asks for', async () => {
    const { clock, ask, asked } = busy(
      { answer: () => ({ httpStatus: 429, outcome: 'rate_limited', body: null, retryAfterMs: 20_000 }) },
      0,
    );
    ask('a');
    await clock.advance(10);
    ask('b');
    await clock.advance(3_000);
    expect(asked).toMatchObject([{ asked: true }, { asked: false, reason: 'budget' }]);
  });

  it('that nobody could answer any more ends with the poller', async () => {
    const { clock, ask, asked, poller } = busy({ policy: { requestsPerSecond: 0.1 } }, 1);
    await clock.advance(10);
    ask('a');
    await clock.advance(10);
    await poller.stop();
    await clock.advance(10);
    ask('b');
    await clock.advance(10);
    expect(asked).toEqual([
      { asked: false, reason: 'stopped' },
      { asked: false, reason: 'stopped' },
    ]);
  });
});
