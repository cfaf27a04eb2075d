import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../../../collector/sources/kafka/progress.ts';

const STALL_MS = 60_000;

function setUp() {
  const clock = { ms: 1000 };
  const progress = createProgress(() => clock.ms, STALL_MS);
  progress.assign({ t: [0] });
  const one = () => progress.status()[0]!;
  return { clock, progress, one };
}

describe('the progress of assigned partitions', () => {
  it('calls a partition stalled when records wait and none is done with for the stall timeout', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '5');
    progress.watermark('t', 0, { high: '9' });
    expect(one()).toMatchObject({ position: '5', highWatermark: '9', lag: 4, stalled: false });
    clock.ms += STALL_MS;
    expect(one().stalled).toBe(true);
    progress.advance('t', 0, '6');
    expect(one()).toMatchObject({ lag: 3, stalled: false });
  });

  it('does not take quiet for a stall, and begins to count at the first record after it', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '5');
    progress.watermark('t', 0, { high: '5' });
    clock.ms += 10 * STALL_MS;
    expect(one()).toMatchObject({ lag: 0, stalled: false });
    progress.watermark('t', 0, { high: '6' });
    expect(one()).toMatchObject({ lag: 1, stalled: false });
    clock.ms += STALL_MS;
    expect(one().stalled).toBe(true);
  });

  it('says for how long the same records are offered, over pauses and joins, until they are taken', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '0');
    expect(one().heldMs).toBeNull();
    progress.pause('t', 0, true);
    clock.ms += 4000;
    progress.pause('t', 0, false);
    clock.ms += 1000;
    progress.pause('t', 0, true);
    progress.excuse();
    progress.assign({ t: [0] });
    clock.ms += 1000;
    expect(one().heldMs).toBe(6000);
    progress.advance('t', 0, '1');
    expect(one().heldMs).toBeNull();
  });

  it('does not take waiting for the store for a stall', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '0');
    progress.watermark('t', 0, { high: '1' });
    progress.pause('t', 0, true);
    clock.ms += 10 * STALL_MS;
    expect(one()).toMatchObject({ paused: true, stalled: false });
    progress.pause('t', 0, false);
    expect(one().stalled).toBe(false);
    clock.ms += STALL_MS;
    expect(one().stalled).toBe(true);
  });

  it('does not take for a stall what is handled or waits for its turn while the store is away', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '0');
    progress.watermark('t', 0, { high: '1' });
    for (let tick = 0; tick < 10; tick += 1) {
      clock.ms += STALL_MS / 4;
      progress.excuse();
      expect(one().stalled).toBe(false);
    }
    clock.ms += STALL_MS;
    expect(one().stalled).toBe(true);
  });

  it('reports every missing offset once, and a log that begins anew as such', () => {
    const { progress } = setUp();
    expect(progress.arrive('t', 0, '7')).toBeNull();
    progress.advance('t', 0, '10');
    expect(progress.arrive('t', 0, '10')).toBeNull();
    progress.advance('t', 0, '11');
    expect(progress.arrive('t', 0, '15')).toEqual({ expected: '11', actual: '15', missing: 4 });
    expect(progress.arrive('t', 0, '15')).toBeNull();
    expect(progress.arrive('t', 0, '0')).toEqual({ expected: '15', actual: '0', missing: null });
  });

  it('asks for the position again after a rebalance, as another member may have moved it', () => {
    const { progress, one } = setUp();
    progress.advance('t', 0, '10');
    progress.assign({ t: [0] });
    expect(one().position).toBeNull();
    expect(progress.arrive('t', 0, '25')).toBeNull();
  });

  it('counts what waits for a transaction, and does not take that for a stall', () => {
    const { clock, progress, one } = setUp();
    progress.begin('t', 0, '5');
    progress.watermark('t', 0, { high: '9', stable: '5' });
    clock.ms += 10 * STALL_MS;
    expect(one()).toMatchObject({
      lag: 4,
      uncommitted: 4,
      uncommittedMs: 10 * STALL_MS,
      stalled: false,
    });
    progress.watermark('t', 0, { high: '12', stable: '7' });
    expect(one()).toMatchObject({ lag: 7, uncommitted: 5, uncommittedMs: 0, stalled: false });
    clock.ms += STALL_MS;
    expect(one().stalled).toBe(true);
    progress.advance('t', 0, '7');
    progress.watermark('t', 0, { high: '12', stable: '12' });
    expect(one()).toMatchObject({ lag: 5, uncommitted: 0, uncommittedMs: 0 });
  });

  it('never has a negative lag and knows no partition that is not assigned', () => {
    const offset = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);
    const step = fc.tuple(
      fc.constantFrom('advance', 'watermark', 'begin', 'arrive' as const),
      fc.nat(2),
      offset,
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const progress = createProgress(() => 0, STALL_MS);
        progress.assign({ t: [0, 1] });
        for (const [name, partition, at] of steps) {
          if (name === 'watermark') progress.watermark('t', partition, { high: at, stable: at });
          else progress[name]('t', partition, at);
        }
        const status = progress.status();
        expect(status.map(({ partition }) => partition)).toEqual([0, 1]);
        for (const { lag, uncommitted } of status) {
          expect(lag === null || lag >= 0).toBe(true);
          expect(uncommitted).toBe(0);
        }
      }),
    );
  });
});
