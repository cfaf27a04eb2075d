import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawnPanels, generatedDashboards } from './generated.ts';
import { KNOWN_ID, seed, seenAgain, type Seeded, startSeeded } from './seeded.ts';

/** Numbers of the clock or of the disk, which no repetition explains. */
const NOT_OF_THE_ROWS = new Set(['Age of what we know, by gateway', 'Size of the store, by table']);

const panels = generatedDashboards().flatMap((board) =>
  drawnPanels(board)
    .filter(({ title, targets }) => targets !== undefined && !NOT_OF_THE_ROWS.has(title))
    .map((panel) => [`${board.title}: ${panel.title}`, panel.targets?.[0]?.rawSql ?? ''] as const),
);

describe('rows that arrive twice, the second time later, change nothing:', () => {
  let once: Seeded;
  let twice: Seeded;
  beforeAll(async () => {
    const sown = seed();
    once = await startSeeded([sown]);
    twice = await startSeeded([sown, seenAgain, seenAgain]);
  });
  afterAll(async () => {
    await once?.store.stop();
    await twice?.store.stop();
  });

  it.each(panels)('%s', async (_, sql) => {
    const variables = { order_id: [KNOWN_ID] };
    const [expected, actual] = await Promise.all([once.run(sql, variables), twice.run(sql, variables)]);
    expect(expected.data.length).toBeGreaterThan(0);
    expect(actual.data).toEqual(expected.data);
  });
});
