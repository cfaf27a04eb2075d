import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metric } from '../integration/support/metrics.ts';
import { GATEWAY, type Scene, startScene } from './support/scene.ts';

/**
 * HOW AN ORDER IS POLLED
 *
 * The interface has no push that can be trusted and no list of orders. So the collector asks: one status
 * request for one order, again and again, until the order has come to its end and nothing more is added to
 * its history. An order has one of four phases:
 *
 *     active       not final: read after 2, 5, 15, 45, 120 seconds, then at doubling waits up to 5 minutes
 *     rereading    final: read again after 1, 3 and 10.5 minutes, as late history items may still come
 *     settled      final, and the last read found nothing new: read no more
 *     abandoned    not final after a week: read no more, and said so
 *
 * Here the waits are fractions of a second. The schedule itself is a pure function:
 * `collector/orders/advance.ts`.
 */
describe('how an order is polled', () => {
  const WAITS_S = [0.2, 0.4, 0.8];
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene({
      gateway: {
        poll: {
          delaysS: WAITS_S,
          maxDelayS: 0.8,
          jitter: 0,
          rereadsS: [1, 2],
          mergeCallbacksMs: 100,
          probeS: 0.5,
        },
      },
    });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const newOrder = () =>
    scene.gateway.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] }).externalId;
  interface Poll {
    readonly cause: string;
    readonly outcome: string;
    readonly at: number;
  }
  const polls = (id: string) =>
    scene.query<Poll>(
      `SELECT cause, outcome, toUnixTimestamp64Micro(started_at) / 1000 AS at
       FROM polls WHERE order_id = '${id}' ORDER BY started_at`,
    );
  const causes = async (id: string) => new Set((await polls(id)).map(({ cause }) => cause));
  const order = async (id: string) =>
    (
      await scene.query(
        `SELECT status, outcome, settled_at IS NOT NULL AS settled FROM orders WHERE external_id = '${id}'`,
      )
    )[0];
  const actions = async (id: string) =>
    (
      await scene.query<{ action: string }>(
        `SELECT action FROM history_events WHERE external_id = '${id}' ORDER BY event_time`,
      )
    ).map(({ action }) => action);

  it('1. somebody has to name an order: there is no list, and what nobody names is never read', async () => {
    const [named, unnamed] = [newOrder(), newOrder()];
    await scene.watch(named);
    await expect.poll(() => actions(named)).toEqual(['1.1.1.00']);
    expect(await polls(unnamed)).toEqual([]);
    expect((await polls(named))[0]).toMatchObject({ cause: 'watch', outcome: 'ok' });
  });

  it('2. while it is not final it is read again and again, after longer and longer waits', async () => {
    const id = newOrder();
    await scene.watch(id);
    const enough = WAITS_S.length + 2;
    await expect.poll(async () => (await polls(id)).length).toBeGreaterThanOrEqual(enough);
    const times = (await polls(id)).slice(0, enough).map(({ at }) => at);
    const waitsMs = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    // A busy machine may be late; it is never early, but for the rounding of two clocks.
    for (const [index, waitedMs] of waitsMs.entries()) {
      const plannedMs = 1000 * (WAITS_S[index] ?? WAITS_S.at(-1) ?? 0);
      expect(waitedMs).toBeGreaterThanOrEqual(plannedMs - 20);
    }
  });

  it('3. a callback that verifies has the order read at once; what it says is not believed', async () => {
    const id = newOrder();
    expect(await scene.sendCallback({ externalId: id, status: 'Success' })).toBe(200);
    await expect.poll(() => causes(id)).toContain('callback');
    // The callback said Success. The gateway, asked, says Processing: that is what is stored.
    await expect.poll(() => order(id)).toEqual({ status: 'Processing', outcome: null, settled: 0 });
  });

  it('4. a callback that does not verify is kept as evidence and causes no read', async () => {
    const [forged, honest] = [newOrder(), newOrder()];
    expect(await scene.sendCallback({ externalId: forged }, 'a key that is a guess')).toBe(200);
    await scene.sendCallback({ externalId: honest });
    await expect.poll(() => causes(honest)).toContain('callback');
    expect(await scene.query(`SELECT verdict FROM callbacks WHERE external_id = '${forged}'`)).toEqual([
      { verdict: 'mismatch' },
    ]);
    expect(await polls(forged)).toEqual([]);
  });

  let ended: string;
  it('5. after its end it is read some more, as late items come; then it is settled', async () => {
    ended = newOrder();
    await scene.watch(ended);
    scene.gateway.appendItem(ended, { action: '4.1.3.00' });
    scene.gateway.setStatus(ended, { status: 'Success' });
    await expect.poll(() => order(ended)).toMatchObject({ status: 'Success', outcome: 'succeeded' });
    scene.gateway.appendItem(ended, { action: '6.1.1.00' });
    await expect.poll(() => order(ended)).toMatchObject({ settled: 1 });
    expect(await actions(ended)).toEqual(['1.1.1.00', '4.1.3.00', '6.1.1.00']);
    expect(await causes(ended)).toContain('reread');
  });

  it('6. a settled order is left alone, until a callback opens it again', async () => {
    const before = (await polls(ended)).length;
    // Another order goes through its whole life meanwhile, so that there was time for a read.
    const other = newOrder();
    await scene.watch(other);
    await expect.poll(async () => (await polls(other)).length).toBeGreaterThan(3);
    expect(await polls(ended)).toHaveLength(before);
    scene.gateway.appendItem(ended, { action: '6.1.3.00' });
    await scene.sendCallback({ externalId: ended, status: 'Success' });
    await expect.poll(() => actions(ended)).toContain('6.1.3.00');
  });

  it('7. no answer is no news: the order keeps its state, and is asked about again', async () => {
    const id = newOrder();
    const { id: fault } = scene.gateway.faults.add({ name: 'http_503', endpoint: 'status' });
    await scene.watch(id);
    await expect.poll(async () => (await polls(id)).length).toBeGreaterThan(1);
    expect(new Set((await polls(id)).map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
    // Named, and not known: it has no status, and above all it has not failed.
    expect(await order(id)).toMatchObject({ status: null, outcome: null });
    scene.gateway.faults.remove(fault);
    await expect.poll(() => order(id)).toMatchObject({ status: 'Processing', outcome: null });
  });

  it('8. a gateway that refuses the token is not asked in vain: a circuit opens, and a probe closes it', async () => {
    const open = () => metric(scene.collector.http, 'gatewatch_circuits_open', { gateway: GATEWAY });
    const { id: fault } = scene.gateway.faults.add({ name: 'http_401', endpoint: 'status' });
    const ids = [newOrder(), newOrder(), newOrder()];
    await scene.watch(...ids);
    await expect.poll(open).toBe(1);
    scene.gateway.faults.remove(fault);
    await expect.poll(open).toBe(0);
    for (const id of ids) await expect.poll(() => order(id)).toMatchObject({ status: 'Processing' });
  });
});
