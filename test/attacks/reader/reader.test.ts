import { describe, expect, it } from 'vitest';
import { attackBeside } from './beside.ts';
import { attackReader, HAND_MADE } from './run.ts';

const MUTATIONS = Number(process.env['GATEWATCH_READER_MUTATIONS'] ?? 2_000);

describe('a hostile reader', () => {
  it('has three hundred hand-made attacks and more', () => {
    expect(HAND_MADE.length).toBeGreaterThanOrEqual(300);
    expect(new Set(HAND_MADE.map(({ group, name }) => `${group}: ${name}`)).size).toBe(HAND_MADE.length);
  });

  it('gets nothing but what the views show, and the engine touches nothing but its own', async () => {
    const report = await attackReader({
      mutations: MUTATIONS,
      seed: 7,
      concurrency: 4,
      say: () => undefined,
    });
    console.log(
      `${report.seconds} s, ${JSON.stringify(report.answers)}, ${report.notWatched ?? 'watched'}, ${report.wall}`,
    );
    if (process.env['GATEWATCH_REQUIRE_STRACE'] !== undefined) expect(report.notWatched).toBeNull();
    expect(report.succeeded).toEqual([]);
    expect(report.forbiddenCalls ?? []).toEqual([]);
    expect(report.restarts).toBe(0);
  }, 600_000);

  it('harms nobody but itself: signed callbacks are answered beside it, and the collector stays ready', async () => {
    const options = { seconds: 6, rate: 10, bombs: 4, connections: 260, say: () => undefined };
    const { calm, attacked, lost } = await attackBeside(options);
    console.log(JSON.stringify({ calm, attacked }));
    expect(lost).toBe(0);
    expect(attacked.callbacks.answers).toEqual({ 200: attacked.callbacks.sent });
    expect(attacked.observed.notReady).toEqual({});
  });
});
