import { describe, expect, it } from 'vitest';
import { takeIdle } from '../../../store/embedded/engine.ts';

const idle = (...setups: string[]) => setups.map((setup, place) => ({ setup, place }));

describe('a connection that waits to be used again', () => {
  it('is taken by a statement of an equal setup, and waits no longer', () => {
    const [a, b] = idle('a', 'b');
    expect(takeIdle([a!, b!], 'b', 4)).toEqual({ taken: b, excess: null, left: [a] });
  });

  it('stays where the setup differs', () => {
    const waiting = idle('a', 'b');
    expect(takeIdle(waiting, 'c', 4)).toEqual({ taken: null, excess: null, left: waiting });
  });

  it('gives way when as many wait as may: the one that waited longest', () => {
    const [a, b] = idle('a', 'b');
    expect(takeIdle([a!, b!], 'c', 2)).toEqual({ taken: null, excess: a, left: [b] });
  });

  it('takes one of two alike and leaves the other', () => {
    const [first, second] = idle('a', 'a');
    expect(takeIdle([first!, second!], 'a', 4)).toEqual({
      taken: first,
      excess: null,
      left: [second],
    });
  });
});
