import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAgenda } from '../../sandbox/agenda.ts';
import { createManualClock } from '../../sandbox/clock.ts';

it('does things in time order, and things of one instant in the order they were added', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 200 }), (times) => {
      const clock = createManualClock(0);
      const agenda = createAgenda(clock, () => {});
      const done: [number, number][] = [];
      for (const [i, time] of times.entries()) agenda.at(time, () => done.push([time, i]));
      clock.advance(100);
      expect(done).toEqual(times.map((time, i) => [time, i] as const).toSorted((a, b) => a[0] - b[0]));
      expect(agenda.size).toBe(0);
    }),
  );
});

it('does a thing added for an earlier time first, and goes on after one that throws', () => {
  const clock = createManualClock(0);
  const errors: unknown[] = [];
  const agenda = createAgenda(clock, (error) => errors.push(error));
  const done: string[] = [];
  agenda.at(30, () => done.push('late'));
  agenda.at(10, () => {
    done.push('early');
    agenda.at(20, () => done.push('between'));
    throw new Error('no matter');
  });
  clock.advance(40);
  expect(done).toEqual(['early', 'between', 'late']);
  expect(errors).toHaveLength(1);
});

it('does nothing more once it is closed', () => {
  const clock = createManualClock(0);
  const agenda = createAgenda(clock, () => {});
  const done: number[] = [];
  agenda.at(1, () => done.push(1));
  agenda.at(1, () => done.push(2));
  agenda.at(0, () => agenda.close());
  clock.advance(10);
  expect(done).toEqual([]);
});
