import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { FINDING_TABLES, PAYMENT_COUNT_TABLES, VIEWS } from '../../schemas/names.ts';
import { schemaStatements } from '../../store/migrate.ts';
import { createStore, type Store } from '../../store/store.ts';
import {
  type CollectorProcess,
  readerPassword,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { gatewayConfig, postCallback } from './support/gateway.ts';

/**
 * One story of tables that break beneath a running collector: first that of payments, which come
 * first, then that of the comparison of sources. Once a minute they come by, one after the other, and none may hold back the next.
 */

interface Keeper {
  readonly tables: readonly string[];
  /** What gets a row whenever the keeper has done its work. */
  readonly kept: string;
  /** What the log says when it could not. */
  readonly failure: string;
}

const PAYMENTS: Keeper = {
  tables: [PAYMENT_COUNT_TABLES.passes, PAYMENT_COUNT_TABLES.counts, PAYMENT_COUNT_TABLES.totals],
  kept: PAYMENT_COUNT_TABLES.passes,
  failure: 'payments could not be counted; the next attempt catches up',
};
const SOURCES: Keeper = {
  tables: [FINDING_TABLES.frontier],
  kept: FINDING_TABLES.frontier,
  failure: 'the sources about orders could not be compared; the next attempt catches up',
};
const ALL: readonly Keeper[] = [PAYMENTS, SOURCES];
const REFUSING = 'takes_no_rows';

describe('a collector whose keepers find their tables broken', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let store: Store;
  beforeAll(async () => {
    sandbox = await createSandbox();
    const config = { gateways: [gatewayConfig(sandbox)] };
    collector = await startCollectorProcess({ config });
    await useStore();
    const { kept } = PAYMENTS;
    await store.command(`ALTER TABLE ${kept} ADD CONSTRAINT ${REFUSING} CHECK 0`);
    await store.command(`TRUNCATE TABLE ${kept}`);
    await collector.stop();
    collector = await startCollectorProcess({ config, folder: collector.folder });
    await useStore();
  });
  afterAll(async () => {
    await store?.close();
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  /** The writer's door of the store that runs now. */
  async function useStore(): Promise<void> {
    await store?.close();
    const password = writerSecret(collector.dataDir);
    store = createStore({ url: collector.store, username: 'gatewatch', password });
  }

  const rows = async (from: string): Promise<number> =>
    (await store.query<{ n: number }>(`SELECT count() AS n FROM ${from}`))[0]?.n ?? 0;
  const atLeastOne = (from: string) =>
    until(
      `rows of ${from}`,
      () => rows(from),
      (n) => n > 0,
    );

  async function expectFailure({ failure }: Keeper, why: string): Promise<void> {
    await until(failure, () => collector.logged(failure).length, Boolean);
    const [line] = collector.logged(failure);
    expect(line).toMatchObject({ level: 'error', err: { message: expect.stringContaining(why) } });
    const { dataDir } = collector;
    for (const secret of [
      sandbox.token,
      sandbox.callbackKey,
      writerSecret(dataDir),
      readerPassword(dataDir),
    ]) {
      expect(secret).not.toBe('');
      expect(JSON.stringify(line)).not.toContain(secret);
    }
  }

  /** Callbacks and replies are taken in and can be read, and rules are evaluated. */
  async function expectTheRestToGoOn(): Promise<void> {
    const minute = Math.floor(Date.now() / 60_000) * 60;
    expect((await fetch(`${collector.http}/readyz`)).status).toBe(200);
    expect((await fetch(`${collector.http}/metrics`)).status).toBe(200);
    const { externalId } = sandbox.seedOrder({
      status: 'Success',
      items: [{ action: '4.3.1.00', offsetMs: -9 }],
    });
    const watched = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify({ orderType: 'Deposit', externalId }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(watched.status).toBe(202);
    const url = `${collector.intake}/callbacks/sandbox`;
    expect((await postCallback(url, { externalId }, sandbox.callbackKey)).status).toBe(200);
    for (const view of [VIEWS.callbacks, VIEWS.historyEvents])
      await atLeastOne(`${view} WHERE external_id = '${externalId}'`);
    await atLeastOne(`${VIEWS.alertEvaluations} WHERE as_of >= ${minute}`);
  }

  it('is told of each in one line, and all else goes on, the keeper too once its table is back', async () => {
    await expectFailure(
      PAYMENTS,
      'insert into gatewatch.payment_passes_store: rows refused, ClickHouse error 469 VIOLATED_CONSTRAINT',
    );
    await expectTheRestToGoOn();
    await atLeastOne(SOURCES.kept);
    await store.command(`ALTER TABLE ${PAYMENTS.kept} DROP CONSTRAINT ${REFUSING}`);
    for (const table of SOURCES.tables) await store.command(`DROP TABLE ${table} SYNC`);
    // Whether it reads or writes the table first: it may have been at work when the table went.
    await expectFailure(SOURCES, 'refused by the store, ClickHouse error 60 UNKNOWN_TABLE');
    expect(collector.logged(SOURCES.failure)).toHaveLength(1);
    await expectTheRestToGoOn();
    for (const table of SOURCES.tables) await store.command(await creationOf(table));
    for (const keeper of ALL) await atLeastOne(keeper.kept);
    const errors = collector
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(new Set(errors)).toEqual(new Set(ALL.map(({ failure }) => failure)));
  }, 600_000);
});

/** The statement that makes a table. */
async function creationOf(table: string): Promise<string> {
  const found = (await schemaStatements()).find((text) =>
    text.includes(`CREATE TABLE IF NOT EXISTS ${table}\n`),
  );
  if (found === undefined) throw new Error(`nothing makes ${table}`);
  return found;
}
