import { describe, expect, it } from 'vitest';
import { createRetryingStore } from '../../../../collector/sinks/clickhouse/retrying-store.ts';
import { noInstruments } from '../../../../collector/telemetry/instruments.ts';
import type { FrozenInsert } from '../../../../store/frozen-insert.ts';
import { StoreError } from '../../../../store/store-error.ts';

const away = () =>
  new StoreError('the connection was closed', {
    code: 'store_unavailable',
    retryable: true,
    ambiguous: true,
  });
const insert = (tableName: string): FrozenInsert => ({ tableName }) as FrozenInsert;

function scene(answer: (insert: FrozenInsert) => Promise<void>) {
  const abort = new AbortController();
  const lines: string[] = [];
  const retrying = createRetryingStore({
    store: { insertFrozen: answer } as never,
    policy: { minDelayMs: 1, maxDelayMs: 1, random: () => 0 },
    signal: abort.signal,
    instruments: noInstruments(),
    log: { info: (_details, text) => lines.push(text), warn: (_details, text) => lines.push(text) },
  });
  return { retrying, lines, abort };
}

describe('a store that is asked until it answers', () => {
  it('gets the same insert again, and reports the trouble and its end once each', async () => {
    let failures = 3;
    const seen: unknown[] = [];
    const { retrying, lines } = scene(async (given) => {
      seen.push(given);
      if ((failures -= 1) >= 0) throw away();
    });
    const rows = insert('rows');
    await retrying.insert(rows);
    expect(seen).toEqual([rows, rows, rows, rows]);
    expect(lines).toEqual(['insert failed, repeating', 'the store takes rows again']);
    expect(retrying.status()).toEqual({ state: 'ok', retries: 3, ambiguous: 3, lastError: null });
  });

  it('is in trouble while one table waits, also when another goes in meanwhile', async () => {
    const { retrying, abort } = scene(async ({ tableName }) => {
      if (tableName === 'stuck') throw away();
    });
    const stuck = retrying.insert(insert('stuck')).catch((error: unknown) => error);
    await retrying.insert(insert('other'));
    expect(retrying.status()).toMatchObject({ state: 'retrying', lastError: 'the connection was closed' });
    abort.abort();
    expect(await stuck).toMatchObject({ code: 'stopped' });
  });

  it('does not get rows again that it refuses: they are an error', async () => {
    let calls = 0;
    const { retrying } = scene(async () => {
      calls += 1;
      throw new StoreError('cannot parse', { code: 'store_rejected', retryable: false });
    });
    await expect(retrying.insert(insert('rows'))).rejects.toThrow('cannot parse');
    expect([calls, retrying.status().state]).toEqual([1, 'ok']);
  });

  it('answers other questions in the same way', async () => {
    let failures = 1;
    const { retrying } = scene(async () => undefined);
    const answer = await retrying.ask(async () => {
      if ((failures -= 1) >= 0) throw away();
      return 42;
    });
    expect([answer, retrying.status()]).toEqual([
      42,
      { state: 'ok', retries: 1, ambiguous: 1, lastError: null },
    ]);
  });
});
