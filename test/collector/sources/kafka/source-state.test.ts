import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import type { PartitionStatus } from '../../../../schemas/kafka.ts';
import {
  assignmentOf,
  initialState,
  isConnectionNews,
  nextState,
  retryDelayMs,
  type SourceChange,
  type SourceState,
  statusOf,
  tenureOf,
} from '../../../../collector/sources/kafka/source-state.ts';

const LIMITS = { sessionTimeoutMs: 10_000, stallTimeoutMs: 60_000, rebalanceTimeoutMs: 30_000 };
const failure = (code: 'kafka_unreachable' | 'kafka_protocol') =>
  new GatewatchError('broken', { code, retryable: true });

/** The state after changes at the moments beside them. */
const after = (...changes: (readonly [SourceChange, number])[]): SourceState =>
  changes.reduce((state, [change, atMs]) => nextState(state, change, atMs), initialState(0));
const statusAt = (state: SourceState, nowMs: number, partitions: readonly PartitionStatus[] = []) =>
  statusOf(state, partitions, nowMs, LIMITS);
const partition = (lag: number | null, stalled: boolean): PartitionStatus => ({
  topic: 't',
  partition: 0,
  position: null,
  highWatermark: null,
  lag,
  uncommitted: 0,
  uncommittedMs: 0,
  paused: false,
  heldMs: null,
  lastProgressAtMs: 0,
  stalled,
});

describe('a Kafka source', () => {
  it('is connected while the broker has answered within the session timeout', () => {
    expect(statusAt(initialState(0), 0).connected).toBe(false);
    const state = after([{ type: 'contact' }, 1000]);
    expect(statusAt(state, 11_000).connected).toBe(true);
    expect(statusAt(state, 11_001).connected).toBe(false);
  });

  it('is not connected once the broker cannot be reached, and is while it complains', () => {
    const gone = after(
      [{ type: 'contact' }, 0],
      [{ type: 'unreachable', error: failure('kafka_unreachable') }, 1],
    );
    const upset = after(
      [{ type: 'contact' }, 0],
      [{ type: 'unreachable', error: failure('kafka_protocol') }, 1],
    );
    expect([statusAt(gone, 2).connected, statusAt(upset, 2).connected]).toEqual([false, true]);
    expect([statusAt(gone, 2).lastError?.code, gone.group]).toEqual(['kafka_unreachable', 'connecting']);
  });

  it('reports a connection at first, and after every failure', () => {
    expect(isConnectionNews(initialState(0))).toBe(true);
    const connected = after([{ type: 'topics', missing: [], error: null }, 0]);
    expect(isConnectionNews(connected)).toBe(false);
    const failed = nextState(connected, { type: 'crash', error: failure('kafka_protocol') }, 1);
    expect(isConnectionNews(failed)).toBe(true);
  });

  it('counts failures until a group is joined', () => {
    const twice = after(
      [{ type: 'crash', error: failure('kafka_protocol') }, 0],
      [{ type: 'unreachable', error: failure('kafka_unreachable') }, 1],
    );
    expect(twice.failures).toBe(2);
    expect(nextState(twice, { type: 'group', state: 'joining' }, 2).failures).toBe(2);
    expect(nextState(twice, { type: 'group', state: 'stable' }, 2).failures).toBe(0);
  });

  it('knows its assignment when it knows how many partitions there are, and keeps it until the next join', () => {
    const counted = after([{ type: 'partitions', topic: 't', count: 6 }, 0]);
    expect(assignmentOf(counted, 't')).toBeNull();
    const joined = nextState(counted, { type: 'joined', memberId: 'm', assignment: { t: [1, 4] } }, 1);
    expect(assignmentOf(joined, 't')).toEqual({ partitions: [1, 4], of: 6 });
    expect(assignmentOf(joined, 'other')).toBeNull();
    const rebalancing = nextState(joined, { type: 'group', state: 'rebalancing' }, 2);
    expect(assignmentOf(rebalancing, 't')).toEqual({ partitions: [1, 4], of: 6 });
    const emptied = nextState(rebalancing, { type: 'joined', memberId: 'm', assignment: {} }, 3);
    expect(assignmentOf(emptied, 't')).toEqual({ partitions: [], of: 6 });
  });

  describe('of how sure its assignment is', () => {
    const LIMIT_MS = 10_000;
    const at = (ms: number, wallMs = ms) => ({ ms, wallMs });
    const joined = (memberId: string, partitions: number[]): SourceChange => ({
      type: 'joined',
      memberId,
      assignment: { t: partitions },
    });
    const sentAt = (ms: number): SourceChange => ({ type: 'confirmed', sentMs: ms, sentWallMs: ms });

    it('knows nothing before it has joined, and is sure for the session timeout after a request', () => {
      expect(tenureOf(after([sentAt(0), 0]), 't', at(1), LIMIT_MS)).toBeNull();
      const state = after([joined('m', [0]), 0], [sentAt(1_000), 1_200]);
      expect(tenureOf(state, 't', at(10_999), LIMIT_MS)?.isConfirmed).toBe(true);
      expect(tenureOf(state, 't', at(11_000), LIMIT_MS)?.isConfirmed).toBe(false);
      // A frozen machine: its monotonic clock stood still, its wall clock was set right.
      expect(tenureOf(state, 't', at(1_300, 60_000), LIMIT_MS)?.isConfirmed).toBe(false);
    });

    it.each<SourceChange>([
      { type: 'leaving' },
      { type: 'crash', error: failure('kafka_protocol') },
      { type: 'unreachable', error: failure('kafka_unreachable') },
      { type: 'fatal', error: new Error('a bug') },
    ])('is not sure any more after $type', (change) => {
      const state = after([joined('m', [0]), 0], [sentAt(0), 0], [change, 1]);
      expect(tenureOf(state, 't', at(1), LIMIT_MS)?.isConfirmed).toBe(false);
    });

    it('has a partition since the join from which on it was in every one under the same member id', () => {
      const join = fc.record({
        memberId: fc.constantFrom('a', 'b'),
        partitions: fc.uniqueArray(fc.nat({ max: 3 })),
      });
      fc.assert(
        fc.property(fc.array(join, { minLength: 1, maxLength: 8 }), (joins) => {
          const state = after(...joins.map((one) => [joined(one.memberId, one.partitions), 0] as const));
          const last = joins.at(-1);
          const since = (partition: number): number => {
            let first = joins.length;
            for (; first > 1; first -= 1) {
              const before = joins[first - 2];
              if (before?.memberId !== last?.memberId || before?.partitions.includes(partition) !== true)
                break;
            }
            return first;
          };
          expect(tenureOf(state, 't', at(0), LIMIT_MS)).toMatchObject({
            joins: joins.length,
            since: new Map(last?.partitions.map((partition) => [partition, since(partition)])),
          });
        }),
      );
    });
  });

  it('ends for good with its reason', () => {
    const error = new Error('a bug');
    expect(statusAt(after([{ type: 'fatal', error }, 5]), 6)).toMatchObject({
      groupState: 'failed',
      fatal: error,
    });
  });

  it('adds up the lag that is known', () => {
    expect(statusAt(initialState(0), 0, [partition(3, false), partition(null, false)]).lag).toBe(3);
  });
});

describe('a stall', () => {
  const CRASH: SourceChange = { type: 'crash', error: failure('kafka_protocol') };

  it('is a partition that stands still, while the broker answers', () => {
    const state = after([{ type: 'contact' }, 0]);
    expect(statusAt(state, 1, [partition(1, true)]).stalled).toBe(true);
    expect(statusAt(state, 1, [partition(1, false)]).stalled).toBe(false);
    expect(statusAt(state, 20_000, [partition(1, true)]).stalled).toBe(false);
  });

  it('is a group that is not joined within both timeouts', () => {
    const joining = after([{ type: 'group', state: 'joining' }, 0], [{ type: 'contact' }, 90_000]);
    expect(statusAt(joining, 90_000).stalled).toBe(false);
    expect(statusAt(joining, 90_001).stalled).toBe(true);
    const rejoining = nextState(joining, { type: 'group', state: 'rebalancing' }, 90_001);
    expect(statusAt(rejoining, 90_002).stalled).toBe(false);
  });

  it('is a row of crashes without a commit in between', () => {
    const crashing = after([CRASH, 0], [CRASH, 50_000], [{ type: 'contact' }, 60_000]);
    expect(statusAt(crashing, 59_999).stalled).toBe(false);
    expect(statusAt(crashing, 60_000).stalled).toBe(true);
    expect(statusAt(nextState(crashing, { type: 'progress' }, 60_000), 60_000).stalled).toBe(false);
  });

  it('is not a broker that went away in between', () => {
    const outage = after(
      [CRASH, 0],
      [{ type: 'unreachable', error: failure('kafka_unreachable') }, 10],
      [CRASH, 50_000],
      [{ type: 'contact' }, 60_000],
    );
    expect(statusAt(outage, 60_000).stalled).toBe(false);
  });
});

describe('the wait before another attempt', () => {
  it('doubles up to the longest, less at most a fifth of it', () => {
    const backoff = { initialMs: 500, maxMs: 15_000 };
    expect([1, 2, 3, 6, 100].map((attempt) => retryDelayMs(backoff, attempt, 1))).toEqual([
      500, 1000, 2000, 15_000, 15_000,
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const delayMs = retryDelayMs(backoff, attempt, random);
          expect(delayMs).toBeGreaterThanOrEqual(400);
          expect(delayMs).toBeLessThanOrEqual(15_000);
        },
      ),
    );
  });
});
