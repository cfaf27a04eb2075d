import type { Batch, EachBatchPayload } from 'kafkajs';
import * as fc from 'fast-check';
import { KafkaJSProtocolError } from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import {
  type BatchContext,
  gapsInside,
  handleBatch,
  slicesOf,
} from '../../../../collector/sources/kafka/handle-batch.ts';
import {
  createPausedPartitions,
  type PausedPartitions,
} from '../../../../collector/sources/kafka/paused-partitions.ts';
import { createMembership } from '../../../../collector/sources/kafka/membership.ts';
import type { KafkaEvent } from '../../../../collector/sources/kafka/port.ts';
import { createProgress } from '../../../../collector/sources/kafka/progress.ts';

const opened: PausedPartitions[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.stop();
});

/** A batch as kafkajs hands it over: of `offsets`, those in `control` are not for us. */
function batchOf(offsets: readonly number[], control: readonly number[] = []): Batch {
  const raw = offsets.map((offset) => ({ offset: `${offset}`, headers: {}, key: null, value: null }));
  return {
    topic: 't',
    partition: 0,
    highWatermark: `${(offsets.at(-1) ?? -1) + 1}`,
    messages: raw.filter(({ offset }) => !control.includes(Number(offset))),
    rawMessages: raw,
    firstOffset: () => raw[0]?.offset ?? null,
    lastOffset: () => raw.at(-1)?.offset ?? '-1',
  } as unknown as Batch;
}

const away = new GatewatchError('the store is away', { code: 'store_unavailable', retryable: true });
const rebalancing = new KafkaJSProtocolError({
  type: 'REBALANCE_IN_PROGRESS',
  code: 27,
  retriable: true,
  message: 'The group is rebalancing',
} as never);

interface Behaviour {
  readonly handle?: BatchContext['handle'];
  readonly commit?: () => Promise<void>;
  readonly heartbeat?: () => Promise<void>;
}

function scene(batch: Batch, { handle, commit, heartbeat }: Behaviour = {}) {
  const steps: string[] = [];
  const events: KafkaEvent[] = [];
  const membership = createMembership();
  membership.joined({ t: [0] });
  const progress = createProgress(() => 0, 60_000);
  progress.assign({ t: [0] });
  const paused = createPausedPartitions();
  opened.push(paused);
  const giveUp = new AbortController();
  const context: BatchContext = {
    brokers: ['broker:9092'],
    maxRecordsPerHandle: 2,
    keepAliveLimits: { heartbeatMs: 5, rebalanceGraceMs: 20, giveUp: giveUp.signal },
    membership,
    progress,
    paused,
    abandoned: new Map(),
    async handle(records, about) {
      steps.push(`handle ${records.map(({ offset }) => offset).join()}`);
      await handle?.(records, about);
      steps.push('handled');
    },
    emit: (event) => events.push(event),
    retryDelayMs: () => 60_000,
    isClosing: () => false,
    fail: (error) => steps.push(`fail ${String(error)}`),
  };
  const payload = {
    batch,
    heartbeat: heartbeat ?? (async () => undefined),
    isRunning: () => true,
    isStale: () => false,
    pause: () => () => steps.push('resume'),
    resolveOffset: (offset: string) => steps.push(`resolve ${offset}`),
    async commitOffsetsIfNecessary({ topics }: { topics: { partitions: { offset: string }[] }[] }) {
      await commit?.();
      steps.push(`commit ${topics[0]?.partitions[0]?.offset}`);
    },
  } as unknown as EachBatchPayload;
  const run = (): Promise<void> => handleBatch(payload, context);
  const types = (): string[] => events.map(({ type }) => type);
  return { run, steps, events, types, membership, progress, paused, context, giveUp };
}

describe('a batch', () => {
  it('is handled slice by slice, and each is committed after its handler has resolved', async () => {
    const { run, steps, progress } = scene(batchOf([5, 6, 7]));
    await run();
    expect(steps).toEqual([
      'handle 5,6',
      'handled',
      'resolve 6',
      'commit 7',
      'handle 7',
      'handled',
      'resolve 7',
      'commit 8',
    ]);
    expect(progress.status()[0]).toMatchObject({ position: '8', lag: 0 });
  });

  it('has its next slice read while the one before waits for the store, and no third', async () => {
    const stored = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { run, steps } = scene(batchOf([1, 2, 3, 4, 5, 6]), {
      async handle(records, { taken }) {
        taken();
        await stored[(Number(records[0]?.offset) - 1) / 2]?.promise;
      },
    });
    const running = run();
    await expect.poll(() => steps).toEqual(['handle 1,2', 'handle 3,4']);
    // The later one is stored first: its offset waits for that of the one before.
    stored[1]?.resolve();
    await expect.poll(() => steps).toEqual(['handle 1,2', 'handle 3,4', 'handled']);
    stored[0]?.resolve();
    await running;
    expect(steps.filter((step) => step.startsWith('commit'))).toEqual(['commit 3', 'commit 5', 'commit 7']);
    expect(steps.indexOf('handle 5,6')).toBeGreaterThan(steps.indexOf('commit 3'));
  });

  it('is not committed beyond a slice that failed, though the next one is stored', async () => {
    const fails = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const { run, steps, paused, context, events } = scene(batchOf([1, 2, 3, 4, 5]), {
      async handle(records, { taken, signal }) {
        signals.push(signal);
        taken();
        await (records[0]?.offset === '1' ? fails.promise : stored.promise);
      },
    });
    const running = run();
    await expect.poll(() => steps).toEqual(['handle 1,2', 'handle 3,4']);
    fails.reject(away);
    await running;
    expect(events).toMatchObject([{ type: 'paused', offset: '1' }]);
    expect([paused.isPaused('t', 0), signals.map(({ aborted }) => aborted)]).toEqual([true, [true, true]]);
    // What is offered again waits for the handler that is still at it.
    const again = run();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(steps).toEqual(['handle 1,2', 'handle 3,4']);
    stored.resolve();
    await again;
    expect(steps.slice(0, 4)).toEqual(['handle 1,2', 'handle 3,4', 'handled', 'handle 1,2']);
    await expect.poll(() => context.abandoned.size).toBe(0);
  });

  it('is committed in order and no further than it was stored, whatever happens to which slice', async () => {
    const fate = fc.record({ takes: fc.boolean(), delayMs: fc.nat(4), ends: fc.constantFrom('ok', 'away') });
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { minLength: 1, maxLength: 7 }), async (fates) => {
        let busy = 0;
        let untaken = 0;
        const stored = new Set<number>();
        const { run, steps } = scene(batchOf(fates.flatMap((_, index) => [2 * index, 2 * index + 1])), {
          async handle(records, { taken }) {
            const index = Number(records[0]?.offset) / 2;
            const { takes, delayMs, ends } = fates[index] ?? fates[0]!;
            busy += 1;
            expect([busy <= 2, untaken]).toEqual([true, 0]);
            untaken += 1;
            await new Promise((resolve) => setTimeout(resolve, delayMs));
            if (takes) {
              untaken -= 1;
              taken();
              await new Promise((resolve) => setTimeout(resolve, delayMs));
            } else untaken -= 1;
            busy -= 1;
            if (ends === 'away') throw away;
            stored.add(index);
          },
        });
        await run();
        const committed = steps.flatMap((step) =>
          step.startsWith('commit ') ? [Number(step.slice(7))] : [],
        );
        const firstFailure = fates.findIndex(({ ends }) => ends === 'away');
        const good = firstFailure === -1 ? fates.length : firstFailure;
        expect(committed).toEqual(Array.from({ length: good }, (_, index) => 2 * index + 2));
        expect(committed.every((offset) => stored.has(offset / 2 - 1))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('is committed beyond the control records at its end', async () => {
    const { run, steps } = scene(batchOf([5, 6, 7], [6, 7]));
    await run();
    expect(steps).toEqual(['handle 5', 'handled', 'resolve 5', 'commit 8']);
  });

  it('of a partition that is not ours is not handled', async () => {
    const { run, steps, membership } = scene(batchOf([5]));
    membership.leave();
    await run();
    expect(steps).toEqual([]);
  });

  it('pauses its partition uncommitted while the store is away', async () => {
    const { run, steps, events, paused, progress } = scene(batchOf([5]), {
      handle: () => Promise.reject(away),
    });
    await run();
    expect(steps).toEqual(['handle 5']);
    expect(events).toMatchObject([{ type: 'paused', offset: '5', attempt: 1, retryInMs: 60_000 }]);
    expect(paused.isPaused('t', 0)).toBe(true);
    expect(progress.status()[0]).toMatchObject({ paused: true, position: '5' });
  });

  it('ends the session uncommitted when its handler fails for good', async () => {
    const { run, steps } = scene(batchOf([5, 6, 7]), { handle: () => Promise.reject(new Error('a bug')) });
    await run();
    expect(steps).toEqual(['handle 5,6', 'fail Error: a bug']);
  });

  it('is not committed by a handler that outlives its assignment, and the next one waits for that', async () => {
    const gate = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const { run, steps, types, membership, context } = scene(batchOf([5]), {
      handle(_records, about) {
        signal ??= about.signal;
        return gate.promise;
      },
    });
    const running = run();
    membership.leave();
    await running;
    expect([steps, types(), signal?.aborted]).toEqual([['handle 5'], ['assignment_lost'], true]);

    membership.joined({ t: [0] });
    const again = run();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(steps).toEqual(['handle 5']);
    gate.resolve();
    await again;
    expect(steps).toEqual(['handle 5', 'handled', 'handle 5', 'handled', 'resolve 5', 'commit 6']);
    expect(context.abandoned.size).toBe(0);
  });

  it('is given up when the source stops', async () => {
    const { run, steps, types, giveUp } = scene(batchOf([5]), { handle: () => new Promise(() => undefined) });
    const running = run();
    giveUp.abort();
    await running;
    expect([steps, types()]).toEqual([['handle 5'], ['assignment_lost']]);
  });

  it('lets kafkajs join again when the group moves on during the commit', async () => {
    const { run, steps, types } = scene(batchOf([5]), { commit: () => Promise.reject(rebalancing) });
    await expect(run()).rejects.toBe(rebalancing);
    expect(steps).toEqual(['handle 5', 'handled', 'resolve 5']);
    expect(types()).toEqual(['commit_failed']);
  });

  it('may finish and commit during the grace of a rebalance', async () => {
    const { run, steps } = scene(batchOf([5]), {
      handle: () => new Promise((resolve) => setTimeout(resolve, 12)),
      heartbeat: () => Promise.reject(rebalancing),
    });
    await run();
    expect(steps).toEqual(['handle 5', 'handled', 'resolve 5', 'commit 6']);
  });

  it('has its commit tried again when the connection fails', async () => {
    let attempts = 0;
    const { run, types } = scene(batchOf([5]), {
      async commit() {
        attempts += 1;
        if (attempts === 1) throw new Error('the connection was closed');
      },
    });
    await run();
    expect(types()).toEqual(['commit_failed', 'committed']);
  });
});

describe('the slices of a batch', () => {
  it('hold every message once, in order', () => {
    const slices = [...slicesOf(batchOf([1, 2, 4, 9, 10], [10]), 3)];
    expect(slices.map(({ records }) => records.map(({ offset }) => offset))).toEqual([
      ['1', '2', '4'],
      ['9'],
    ]);
    expect(slices.map(({ first, last, next }) => [first, last, next])).toEqual([
      ['1', '4', '5'],
      ['9', '9', '11'],
    ]);
  });

  it('are none when all are control records', () => {
    expect([...slicesOf(batchOf([1, 2], [1, 2]), 3)]).toEqual([]);
  });
});

describe('gaps between the records of a fetch', () => {
  it('are what compaction removed, and not control records', () => {
    expect(gapsInside(batchOf([1, 2, 3], [2]))).toEqual([]);
    expect(gapsInside(batchOf([1, 4, 5, 9]))).toEqual([
      { expected: '2', actual: '4', missing: 2 },
      { expected: '6', actual: '9', missing: 3 },
    ]);
    expect(gapsInside(batchOf([]))).toEqual([]);
  });
});
