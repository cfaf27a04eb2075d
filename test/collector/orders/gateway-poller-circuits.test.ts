import { describe, expect, it } from 'vitest';
import { createScene, refusal } from './scene.ts';

const MINUTE = 60_000;

describe('a credential that the gateway refuses', () => {
  const THREE = ['a', 'b', 'c'];

  it('opens a circuit over all endpoints after 401 for three different orders; one order probes each half minute', async () => {
    let refused = true;
    const scene = createScene({ answer: () => (refused ? refusal('unauthorized', 401) : {}) });
    for (const id of THREE) scene.watch(id);
    await scene.clock.advance(100);
    expect(scene.poller.status().circuitsOpen).toBe(1);
    expect(scene.events).toEqual([{ type: 'circuits', open: 1 }]);
    scene.watch('payout', 'callback', { orderType: 'Withdrawal' });
    for (let i = 0; i < 20; i += 1) scene.watch(`more-${i}`);
    await scene.clock.advance(5 * MINUTE);
    const probes = scene.handled.slice(3);
    expect(probes.map(({ cause }) => cause)).toEqual(Array.from({ length: 10 }, () => 'probe'));
    expect(scene.started.slice(3).map(({ atMs }) => atMs)).toEqual(
      Array.from({ length: 10 }, (_value, index) => (index + 1) * 30_000),
    );
    refused = false;
    await scene.clock.advance(30_000);
    expect(scene.poller.status()).toMatchObject({ circuitsOpen: 0, watched: 24, due: 0 });
    expect(scene.events).toHaveLength(2);
  });

  it('closes one endpoint only after 403, and leaves the others as they are', async () => {
    const { clock, poller, watch, startsOf } = createScene({
      answer: ({ orderType }) => (orderType === 'Withdrawal' ? refusal('forbidden', 403) : {}),
    });
    for (const id of THREE) watch(id, 'watch', { orderType: 'Withdrawal' });
    await clock.advance(100);
    expect(poller.status().circuitsOpen).toBe(1);
    watch('payout', 'callback', { orderType: 'Withdrawal' });
    watch('deposit', 'callback');
    await clock.advance(10_000);
    expect(startsOf('deposit')).toEqual([100, 2100, 7100]);
    expect(startsOf('payout')).toEqual([]);
  });

  it('is not judged by one or two orders, however often they are refused, nor by three with an answer between', async () => {
    const { clock, poller, watch } = createScene({
      answer: ({ orderId }) => (orderId === 'good' ? {} : refusal('unauthorized', 401)),
      policy: { delaysS: [1], maxDelayS: 1 },
    });
    watch('a');
    watch('b');
    await clock.advance(MINUTE);
    expect(poller.status().circuitsOpen).toBe(0);
    watch('good');
    await clock.advance(500);
    watch('c');
    await clock.advance(100);
    expect(poller.status().circuitsOpen).toBe(0);
  });

  it('is not vindicated by a gateway that does not answer', async () => {
    let answer = refusal('unauthorized', 401);
    const { clock, poller, watch } = createScene({ answer: () => answer });
    for (const id of THREE) watch(id);
    await clock.advance(100);
    answer = { outcome: 'unknown', httpStatus: 500, body: null };
    await clock.advance(2 * MINUTE);
    expect(poller.status().circuitsOpen).toBe(1);
  });
});

it('a gateway that does not answer is logged once, and once that it answers again', async () => {
  let away = true;
  const scene = createScene({
    answer: () => (away ? { httpStatus: null, outcome: 'unknown', errorType: 'timeout', body: null } : {}),
  });
  for (const id of ['a', 'b']) scene.watch(id);
  await scene.clock.advance(1_000);
  // Two failures are noise.
  expect(scene.events).toEqual([]);
  await scene.clock.advance(10 * MINUTE);
  expect(scene.events).toEqual([{ type: 'blind', reason: 'timeout' }]);
  away = false;
  await scene.clock.advance(10 * MINUTE);
  expect(scene.events.slice(1)).toEqual([{ type: 'blind', reason: null }]);
});
