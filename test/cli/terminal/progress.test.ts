import { describe, expect, it } from 'vitest';
import type { Output } from '../../../cli/terminal/host.ts';
import { createProgressBar } from '../../../cli/terminal/progress.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** An output that keeps what is written, and a clock that the test sets. */
function scene(isTty = true) {
  const written: string[] = [];
  const output: Output = {
    isTty,
    columns: 120,
    colour: false,
    write: async (chunk) => void written.push(String(chunk)),
    paint: (_style, text) => text,
  };
  const clock = { ms: 0 };
  return { written, clock, bar: createProgressBar(output, 200, () => clock.ms) };
}

describe('a progress bar', () => {
  it('shows how far it is and the time that is left, after two seconds', () => {
    const { written, clock, bar } = scene();
    clock.ms = 1_999;
    bar.show(20, 'early');
    expect(written).toEqual([]);
    clock.ms = 3_000;
    bar.show(50, 'GatewatchTechTimeouts');
    expect(written).toEqual([
      `${CLEAR_LINE}[######..................] 25 %, 9 s left  GatewatchTechTimeouts`,
    ]);
  });

  it('counts long times in minutes, and nothing that it cannot know', () => {
    const { written, clock, bar } = scene();
    clock.ms = 60_000;
    bar.show(0, 'first');
    clock.ms = 120_000;
    bar.show(50, 'second');
    expect(written).toEqual([
      `${CLEAR_LINE}[........................] 0 %  first`,
      `${CLEAR_LINE}[######..................] 25 %, 6 min left  second`,
    ]);
  });

  it('draws at most five times a second, and clears only what it has drawn', () => {
    const { written, clock, bar } = scene();
    bar.clear();
    for (clock.ms = 2_000; clock.ms < 3_000; clock.ms += 50) bar.show(100, 'half');
    expect(written).toHaveLength(5);
    bar.clear();
    expect(written.at(-1)).toBe(CLEAR_LINE);
  });

  it('shows nothing where nobody looks', () => {
    const { written, clock, bar } = scene(false);
    clock.ms = 10_000;
    bar.show(100, 'half');
    bar.clear();
    expect(written).toEqual([]);
  });
});
