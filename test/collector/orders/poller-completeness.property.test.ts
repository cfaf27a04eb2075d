import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PollConfig } from '../../../schemas/config.ts';
import { callback, createPipeline, type GatewayOrder } from '../../support/pipeline.ts';

const ID = 'order-1';
/** How long after a final status a history may be completed (section 8). */
const PROMISED_MS = 600_000;

const life = fc.record({
  finalMs: fc.integer({ min: 0, max: 900_000 }),
  /** When each item shows, beside the one that decides; its own time may be long before that. */
  early: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 60_000 })), {
    maxLength: 6,
  }),
  late: fc.array(
    fc.tuple(fc.integer({ min: 1, max: PROMISED_MS }), fc.integer({ min: 0, max: PROMISED_MS })),
    { maxLength: 4 },
  ),
  /** Whoever sends callbacks may send them at any time, again, and with a status of before. */
  callbacks: fc.array(
    fc.record({
      atMs: fc.integer({ min: 0, max: 1_600_000 }),
      status: fc.constantFrom('Processing', 'Success', 'Failed'),
    }),
    { maxLength: 6 },
  ),
  /** How long the gateway takes to answer, each request in turn; null: it does not answer. */
  answers: fc.array(fc.option(fc.integer({ min: 0, max: 9_000 }), { freq: 5 }), {
    minLength: 1,
    maxLength: 8,
  }),
});

type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Lets the order live, with a gateway that shows what there is when the answer leaves it. */
async function live({ finalMs, early, late, callbacks, answers }: Life, policy: Partial<PollConfig> = {}) {
  const pipeline = createPipeline(policy);
  const { clock, orders, poller } = pipeline;
  const order: GatewayOrder = { externalId: ID, orderStatus: 'Processing', history: [] };
  orders.set(ID, order);
  const show = (dueMs: number, action: string): void => {
    order.history.push([dueMs / 1000, action]);
    order.history.sort(([a], [b]) => a - b);
  };
  const events: { atMs: number; run: () => unknown }[] = [
    {
      atMs: finalMs,
      run: () => {
        order.orderStatus = 'Success';
        show(finalMs, '4.1.3.00');
      },
    },
    ...early.map(([share, ago]) => ({
      atMs: share * finalMs,
      run: () => show(Math.max(0, share * finalMs - ago), '4.2.2.13'),
    })),
    ...late.map(([afterMs, ago]) => ({
      atMs: finalMs + afterMs,
      run: () => show(Math.max(0, finalMs + afterMs - ago), '6.1.1.00'),
    })),
    ...callbacks.map(({ atMs, status }) => ({
      atMs,
      run: () => void pipeline.receive(callback({ externalId: ID, status }, { receivedAt: clock.now() })),
    })),
  ];
  await pipeline.watch({ orderType: 'Deposit', externalId: ID });
  // Requests are answered late, and some are not.
  let turn = 0;
  let release = pipeline.holdReads();
  const answerNext = (): void => {
    const delayMs = answers[turn % answers.length] ?? null;
    turn += 1;
    if (turn < 200 && delayMs === null)
      pipeline.answers.set(ID, { httpStatus: null, outcome: 'unknown', errorType: 'timeout', body: null });
    else pipeline.answers.delete(ID);
    release();
    release = pipeline.holdReads();
    clock.after(Math.max(500, delayMs ?? 10_000), answerNext);
  };
  clock.after(0, answerNext);
  let atMs = 0;
  for (const event of events.toSorted((a, b) => a.atMs - b.atMs)) {
    await clock.advance(event.atMs - atMs);
    atMs = event.atMs;
    event.run();
  }
  await clock.advance(2 * 3_600_000);
  return { ...pipeline, order, status: () => poller().status() };
}

describe('whatever the gateway shows within ten minutes of the final status', () => {
  it('is read, with the default settings, however answers and callbacks come', async () => {
    await fc.assert(
      fc.asyncProperty(life, async (one) => {
        const { order, sink, status } = await live(one);
        expect(sink.rows('historyEvents')).toHaveLength(order.history.length);
        expect(status()).toMatchObject({ watched: 0, inFlight: 0 });
      }),
      { numRuns: 150 },
    );
  });

  it('is read at the cost of one request a callback at most', async () => {
    await fc.assert(
      fc.asyncProperty(life, async (one) => {
        const { sink, reads } = await live({ ...one, answers: [2_000] });
        const called = sink.rows('polls').filter(({ cause }) => cause === 'callback');
        expect(called.length).toBeLessThanOrEqual(one.callbacks.length);
        // Each is followed by a request that began after it.
        const last = Math.max(-1, ...one.callbacks.map(({ atMs }) => atMs));
        expect(reads.at(-1)?.atMs).toBeGreaterThanOrEqual(last);
      }),
      { numRuns: 100 },
    );
  });

  it('is not with a last re-read before that: the test would see it', async () => {
    const late = [[590_000, 0] as [number, number]];
    const one: Life = { finalMs: 1_000, early: [], late, callbacks: [], answers: [2_000] };
    const { order, sink } = await live(one, { rereadsS: [60, 180, 500] });
    expect(sink.rows('historyEvents').length).toBeLessThan(order.history.length);
  });
});
