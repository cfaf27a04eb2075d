import { createClient, type ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { afterStuck, NOTHING_REFUSED, refusalOf } from '../../../store/embedded/stuck-statements.ts';
import { type TestStore, withEmbedded } from '../../support/embedded.ts';
import { until } from '../../support/until.ts';

describe('statements that nothing could interrupt', () => {
  const NOW = 1_000_000;

  it('are refused for ten minutes, and others are not', () => {
    const refused = afterStuck(NOTHING_REFUSED, 'a', NOW);
    expect(refusalOf(refused, 'a', NOW + 599_000)).toContain('refused for another 1 s');
    expect(refusalOf(refused, 'a', NOW + 600_000)).toBeNull();
    expect(refusalOf(refused, 'b', NOW)).toBeNull();
  });

  it('have all readers refused for a while when they come one after the other', () => {
    let refused = NOTHING_REFUSED;
    for (const hash of ['a', 'b', 'c']) refused = afterStuck(refused, hash, NOW);
    expect(refusalOf(refused, 'z', NOW)).toBeNull();
    refused = afterStuck(refused, 'd', NOW);
    expect(refusalOf(refused, 'z', NOW + 1)).toContain('readers are answered again in 300 s');
    expect(refusalOf(refused, 'z', NOW + 300_000)).toBeNull();
    // Those of long ago no longer count.
    expect(afterStuck(afterStuck(NOTHING_REFUSED, 'a', 0), 'b', NOW).until).toEqual({ b: NOW + 600_000 });
  });
});

describe('a statement that the engine cannot interrupt', () => {
  let embedded: TestStore;
  let reader: ClickHouseClient;
  let writer: ClickHouseClient;
  beforeAll(async () => {
    embedded = await withEmbedded({
      readerLimits: { maxExecutionSeconds: 2, stuckAfterSeconds: 4, maxConcurrent: 2 },
    });
    const { url } = embedded;
    reader = createClient({ url, ...embedded.reader, request_timeout: 60_000 });
    writer = createClient({ url, ...embedded.writer });
  });
  afterAll(async () => {
    await Promise.all([reader?.close(), writer?.close()]);
    await embedded?.stop();
  });

  const STUCK = "SELECT countMatches(repeat(repeat('a', 900000), 60), '(a?){500}a{500}')";
  const ask = async (query: string): Promise<string> =>
    (await reader.query({ query, format: 'TabSeparated' })).text();

  it('is ended with the process, refused afterwards, and keeps no other reader waiting for long', async () => {
    await writer.command({ query: 'CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n' });
    await writer.command({ query: 'INSERT INTO kept SELECT 7' });
    const { pid } = embedded.store;
    // Both places of readers, and their clients hang up.
    const leaving = new AbortController();
    const stuck = [1, 2].map(() =>
      reader.query({ query: STUCK, abort_signal: leaving.signal }).catch(() => 'gone'),
    );
    await until(
      'both to run',
      () => running(writer),
      (count) => count >= 2,
    );
    leaving.abort();
    expect(await Promise.all(stuck)).toEqual(['gone', 'gone']);
    await until(
      'a reader to be answered',
      () => ask('SELECT 1').catch(String),
      (text) => text === '1\n',
    );
    expect(embedded.store.pid).not.toBe(pid);
    expect(embedded.store.readers().stuckStatements).toBeGreaterThanOrEqual(1);
    await expect(ask(STUCK)).rejects.toThrow(/is refused: nothing could interrupt it/);
    const kept = await writer.query({ query: 'SELECT n FROM kept', format: 'TabSeparated' });
    expect(await kept.text()).toBe('7\n');
  });
});

async function running(writer: ClickHouseClient): Promise<number> {
  const query =
    "SELECT count() AS n FROM system.processes WHERE query LIKE '%countMatches%' AND query NOT LIKE '%system.processes%'";
  const rows = await (await writer.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
  return Number(rows[0]?.n ?? 0);
}
