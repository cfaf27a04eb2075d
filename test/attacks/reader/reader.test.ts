import { describe, expect, it } from 'vitest';
import { attackBeside } from './beside.ts';
import { attackReader, HAND_MADE } from './run.ts';
import { RUNS } from './walls.ts';

const MUTATIONS = Number(process.env['GATEWATCH_READER_MUTATIONS'] ?? 2_000);

describe('a hostile reader', () => {
  it('has three hundred hand-made attacks and more', () => {
    expect(HAND_MADE.length).toBeGreaterThanOrEqual(300);
    expect(new Set(HAND_MADE.map(({ group, name }) => `${group}: ${name}`)).size).toBe(HAND_MADE.length);
  });

  it.each(RUNS)(
    'gets nothing but what the views show, without $withoutWalls',
    async ({ withoutWalls, share }) => {
      const report = await attackReader({
        mutations: Math.round(MUTATIONS * share),
        seed: 7,
        concurrency: 4,
        withoutWalls,
        say: () => undefined,
      });
      console.log(
        `${report.seconds} s, ${JSON.stringify(report.answers)}, ${report.notWatched ?? 'watched'}, ${report.wall}`,
      );
      if (process.env['GATEWATCH_REQUIRE_STRACE'] !== undefined) expect(report.notWatched).toBeNull();
      expect(report.succeeded).toEqual([]);
      // Without gate and sandbox files are not safe, and without the gate only the sandbox keeps them so.
      const isSandboxed = report.wall.startsWith('Landlock');
      if (isSandboxed || !withoutWalls.includes('gate')) expect(report.forbiddenCalls ?? []).toEqual([]);
      expect(report.restarts).toBe(0);
    },
    600_000,
  );

  it('harms nobody but itself: signed callbacks are answered beside it, and the collector stays ready', async () => {
    const options = { seconds: 6, rate: 10, bombs: 4, connections: 260, say: () => undefined };
    const { calm, attacked, lost } = await attackBeside(options);
    console.log(JSON.stringify({ calm, attacked }));
    expect(lost).toBe(0);
    expect(attacked.callbacks.answers).toEqual({ 200: attacked.callbacks.sent });
    expect(attacked.observed.notReady).toEqual({});
  });
});
