import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPendingWrite, createQueue } from '../../../../collector/sinks/clickhouse/write-queue.ts';
import type { Takes } from '../../../../collector/sinks/clickhouse/sink-state.ts';
import { anyRow } from '../support/rows.ts';

/** A callback over HTTP or from Kafka, or a gateway's reply; its place distinguishes it from others. */
type Kind = 'http' | 'kafka' | 'acme' | 'blue';
const write = (kind: Kind, place: number) => {
  const bundle =
    kind === 'http' || kind === 'kafka'
      ? { callbackDeliveries: [{ ...anyRow('callbackDeliveries'), received_at: place }] }
      : { polls: [{ ...anyRow('polls'), gateway: kind, started_at: place }] };
  const provenance = { http: { httpDeliveries: 1 }, kafka: { kafkaRecords: 1 } }[kind as string];
  return createPendingWrite(bundle, provenance ?? { replies: 1 }, place).write;
};

const MOST_ROWS = 3;
const kinds = fc.constantFrom<Kind>('http', 'kafka', 'acme', 'blue');
const steps = fc.array(fc.oneof(kinds, fc.constantFrom<Takes>('all', 'awaited')), { maxLength: 60 });

describe('what waits to be written', () => {
  it('is taken once each, awaited alone where asked, and in its order among those of its kind', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const queue = createQueue();
        const taken = new Map<string, number[]>();
        let added = 0;
        const take = (takes: Takes): boolean => {
          const hadAwaited = queue.isAwaited();
          const batch = queue.take(MOST_ROWS, takes);
          if (batch === null) return false;
          expect(batch.writes.length).toBeGreaterThan(0);
          expect(batch.writes.length).toBeLessThanOrEqual(MOST_ROWS);
          if (takes === 'awaited' && hadAwaited)
            expect(batch.writes.every(({ isAwaited }) => isAwaited)).toBe(true);
          for (const { gateway, isAwaited, sinceMs } of batch.writes) {
            const kind = `${gateway}${isAwaited}`;
            taken.set(kind, [...(taken.get(kind) ?? []), sinceMs]);
          }
          return true;
        };
        for (const step of all) {
          if (step === 'all' || step === 'awaited') take(step);
          else queue.add(write(step, (added += 1)));
        }
        while (take('all'));
        expect(queue.isEmpty() && !queue.isAwaited() && queue.rows() === 0).toBe(true);
        for (const places of taken.values()) expect(places).toEqual(places.toSorted((a, b) => a - b));
        const places = [...taken.values()].flat();
        expect(new Set(places).size).toBe(added);
        expect(places.length).toBe(added);
      }),
    );
  });

  it('leaves what nobody waits for where it is, first come first', () => {
    const queue = createQueue();
    for (const [index, kind] of (['kafka', 'http', 'acme', 'kafka', 'http'] as const).entries())
      queue.add(write(kind, index));
    expect(queue.take(10, 'awaited')?.writes.map(({ sinceMs }) => sinceMs)).toEqual([1, 4]);
    expect(queue.isAwaited()).toBe(false);
    expect(queue.take(10, 'all')?.writes.map(({ sinceMs }) => sinceMs)).toEqual([0, 2, 3]);
  });
});
