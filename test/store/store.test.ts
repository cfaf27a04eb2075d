import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freezeInsert } from '../../store/frozen-insert.ts';
import { createStore, type Store } from '../../store/store.ts';
import type { TestStore } from '../support/embedded.ts';
import { withEmbedded } from '../support/embedded.ts';
import { count, openDatabase } from '../support/migrated-store.ts';
import { historyEvents } from '../collector/sinks/support/rows.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const INSERTS = 20;

describe('an insert that was acknowledged', () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = await openDatabase(embedded, { requestTimeoutMs: 600_000 });
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  it('holds its bytes no longer, although its deadline has not passed', async () => {
    const stop = new AbortController();
    const sent: WeakRef<Uint8Array>[] = [];
    const insertOne = async (n: number): Promise<void> => {
      const insert = freezeInsert('historyEvents', historyEvents(`held-${n}`, 10), {
        stamp: { collectorId: 'c1', batchSeq: n },
      });
      sent.push(new WeakRef(insert.bytes));
      await store.insertFrozen(insert, stop.signal);
    };
    for (let n = 0; n < INSERTS; n += 1) await insertOne(n);
    expect(await count(store, 'history_events_store')).toBe(INSERTS * 10);
    const held = (): number => {
      collectGarbage();
      return sent.filter((bytes) => bytes.deref() !== undefined).length;
    };
    await expect.poll(held).toBeLessThan(INSERTS / 4);
  });
});

describe('an error of a statement', () => {
  it.each([
    ["INSERT INTO marks_store VALUES ('4111111111111111', 1795430000)", 'insert into marks_store: '],
    ["INSERT INTO marks_store\nSELECT '4111111111111111', 7", 'insert into marks_store select: '],
    ['INSERT INTO marks_store SELECT (1795430000)', 'insert into marks_store select: '],
    ['ALTER TABLE t1 ADD COLUMN IF NOT EXISTS a String', 'alter table t1 add column if: '],
  ])('says which it was and quotes no value: %s', async (sql, words) => {
    const nobody = createStore({ url: 'http://127.0.0.1:1' });
    await expect(nobody.command(sql)).rejects.toMatchObject({
      message: expect.stringMatching(`^${words}`) as string,
    });
    await nobody.close();
  });
});
