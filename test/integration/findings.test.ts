import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFindings } from '../../alerts/findings/sweep.ts';
import type { FaultName } from '../../sandbox/faults.ts';
import type { SeededItem } from '../../sandbox/seeded-orders.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { FindingKind } from '../../schemas/findings.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { createShiftedClock, shiftedEnvironment } from '../support/shifted-clock.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { gatewayConfig } from './support/gateway.ts';
import { reportedLater } from './support/later.ts';

/**
 * Each contradiction from the gateway's wire to the view: the sandbox has a switch for it, a real collector
 * reads and is called, its store is the embedded one. Then three quarters of an hour pass, for the comparison
 * alone: sources are given a quarter of an hour, and half an hour to decide an order. What happens earlier
 * does so while the clocks of gateway and collector are behind.
 */

const EARLIER_MS = -70 * 60_000;

const ITEMS = [
  ['1.0.0.00', -60],
  ['1.1.1.00', -59],
  ['2.1.1.00', -58],
  ['4.1.3.00', -30],
  ['6.1.1.00', -29],
] as const;
type Items = readonly (readonly [action: string, second: number])[];

interface Scene {
  readonly finds: readonly FindingKind[];
  readonly items?: Items;
  readonly status?: string;
  /** A switch of the sandbox, for this order alone. */
  readonly fault?: FaultName;
  /** Callbacks, one after the other. @default one of the order as it is */
  readonly callbacks?: readonly Parameters<Sandbox['sendCallback']>[1][];
  /** Is the shop to announce it? @default true */
  readonly watched?: boolean;
  /** Does it happen more than an hour before, and its callback come again now? @default false */
  readonly earlier?: boolean;
  /** An item that comes when all has been read once. */
  readonly later?: (sandbox: Sandbox, id: string, fault: () => void) => void;
}

const SCENES: Readonly<Record<string, Scene>> = {
  agrees: { finds: [] },
  'late item': {
    finds: [],
    later: (sandbox, id) => {
      sandbox.appendItem(id, { action: '4.1.3.00' });
      sandbox.sendCallback(id);
    },
  },
  'callback lost': { finds: ['CALLBACK_MISSING'], callbacks: [] },
  'callback unrecorded': { finds: ['CALLBACK_WITHOUT_HISTORY'], fault: 'callback_unrecorded' },
  unknown: { finds: ['CALLBACK_FOR_UNKNOWN_ORDER'], fault: 'http_404', watched: false },
  'status stale': { finds: ['STATUS_DISAGREES'], fault: 'status_stale' },
  'other status': { finds: ['STATUS_DISAGREES'], callbacks: [{}, { status: 'Failed' }] },
  'other amount': { finds: ['AMOUNT_DISAGREES'], callbacks: [{ amount: '101.00' }] },
  'other currency': { finds: ['CURRENCY_DISAGREES'], callbacks: [{ currency: 'USD' }] },
  'item lost': {
    finds: ['HISTORY_REWRITTEN'],
    later: (sandbox, id, fault) => {
      fault();
      sandbox.sendCallback(id);
    },
  },
  'failed first': {
    finds: ['SUCCESS_AFTER_FAILED'],
    items: [...ITEMS.slice(0, 3), ['4.1.4.00', -40], ...ITEMS.slice(3)],
    callbacks: [{ status: 'Failed' }, {}],
  },
  'never decided': {
    finds: ['STUCK_PROCESSING'],
    items: [...ITEMS.slice(0, 3), ['4.2.2.13', -40]],
    status: 'Processing',
  },
  rewritten: { finds: ['SIGNATURE_CONFLICT'], callbacks: [{}, { cardHolder: 'ANOTHER HOLDER' }] },
  replayed: { finds: ['REPLAYED'], earlier: true },
  'new move': {
    finds: ['FIRST_SEEN_TRANSITION'],
    items: [...ITEMS.slice(0, 3), ['4.2.2.22', -50], ['4.2.2.21', -45], ...ITEMS.slice(3)],
  },
};
/** Moves that were seen long ago: all but the one that is new. */
const LEARNT = Object.values(SCENES)
  .flatMap(({ items = ITEMS }) => items.slice(1).map(([action], n) => [items[n]?.[0] ?? '', action] as const))
  .concat([['6.1.1.00', '4.1.3.00']])
  .filter(([before, after]) => !(before === '4.2.2.22' && after === '4.2.2.21'));

const clock = createShiftedClock(EARLIER_MS);
let sandbox: Sandbox;
let collector: CollectorProcess;
let store: Store;
const ids = new Map<string, string>();

beforeAll(async () => {
  sandbox = await createSandbox({ seed: 'findings', clock, retentionMs: 86_400_000 });
  const config = { gateways: [gatewayConfig(sandbox)] };
  collector = await startCollectorProcess({ config, env: shiftedEnvironment(EARLIER_MS) });
  for (const [name, scene] of Object.entries(SCENES))
    if (scene.earlier === true) ids.set(name, await play(name, scene));
  await collector.stop();
  clock.setShift(0);
  collector = await startCollectorProcess({ config, folder: collector.folder });
  const password = writerSecret(collector.dataDir);
  store = createStore({ url: collector.store, username: 'gatewatch', password });
  for (const [before, after] of LEARNT)
    await store.command(
      `INSERT INTO code_moves_store (gateway, before, after, order_type, external_id, moved_at, known_at) SELECT 'sandbox', '${before}', '${after}', 'Deposit', 'old', now64(6) - INTERVAL 30 DAY, now64(6) - INTERVAL 30 DAY`,
    );
  for (const [name, scene] of Object.entries(SCENES))
    if (scene.earlier === true) await replay(ids.get(name) ?? '');
    else ids.set(name, await play(name, scene));
  // All that is known has been read, and those that are not decided go on being read.
  for (const name of ids.keys()) if (SCENES[name]?.watched !== false) await read(name);
  for (const [name, { later }] of Object.entries(SCENES))
    later?.(sandbox, ids.get(name) ?? '', () => void addFault(name, 'history_item_lost'));
  await atLeast(1, `FROM polls WHERE anomaly = 'history_shrank' AND order_id = '${ids.get('item lost')}'`);
  // The gateway's own store may be slower than its callbacks: a 404 counts a minute after the callback.
  await atLeast(
    1,
    `FROM polls WHERE outcome = 'not_found' AND order_id = '${ids.get('unknown')}' AND started_at > (SELECT min(first_received_at) FROM callbacks WHERE external_id = '${ids.get('unknown')}') + INTERVAL 60 SECOND`,
  );
}, 300_000);
afterAll(async () => {
  await store?.close();
  await collector?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

const count = async (from: string): Promise<number> =>
  Number((await collector.query<{ n: number }>(`SELECT count() AS n ${from}`))[0]?.n ?? 0);

const atLeast = (rows: number, from: string): Promise<unknown> =>
  until(
    `${rows} rows ${from}`,
    () => count(from),
    (n) => n >= rows,
  );

const addFault = (channel: string, name: FaultName): string => sandbox.faults.add({ name, channel }).id;

/** Lets an order happen: at the gateway, in the shop, and in callbacks. */
async function play(name: string, scene: Scene): Promise<string> {
  const { items = ITEMS, status = 'Success', fault, callbacks = [{}], watched = true } = scene;
  const { externalId } = sandbox.seedOrder({
    channel: name,
    status,
    callbackUrl: `${collector.intake}/callbacks/sandbox`,
    items: items.map(([action, second]): SeededItem => ({ action, offsetMs: second * 1000 })),
  });
  if (fault !== undefined) addFault(name, fault);
  if (watched) {
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        gateway: 'sandbox',
        orderType: 'Deposit',
        externalId,
        amount: '100',
        currency: 'EUR',
      }),
    });
    expect(reply.status).toBe(202);
  }
  for (const callback of callbacks) sandbox.sendCallback(externalId, callback);
  await atLeast(callbacks.length, `FROM callbacks WHERE external_id = '${externalId}' AND verdict = 'valid'`);
  return externalId;
}

/** The callback that came before the restart comes again. */
async function replay(externalId: string): Promise<void> {
  sandbox.sendCallback(externalId, { url: `${collector.intake}/callbacks/sandbox` });
  await atLeast(1, `FROM callbacks WHERE external_id = '${externalId}' AND deliveries = 2`);
}

const read = (name: string): Promise<unknown> =>
  atLeast(4, `FROM history_events WHERE external_id = '${ids.get(name)}'`);

async function compareLater(): Promise<void> {
  const later = await reportedLater(store, 'sandbox');
  const findings = createFindings({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql),
  });
  while (await findings.sweep(later)) continue;
}

it('finds exactly what each switch makes of an order, and nothing about those that agree', async () => {
  await compareLater();
  const rows = await collector.query<{ external_id: string; kinds: FindingKind[] }>(
    'SELECT external_id, arraySort(groupArray(kind)) AS kinds FROM findings GROUP BY external_id',
  );
  const kinds = new Map(rows.map((row) => [row.external_id, row.kinds]));
  expect(Object.fromEntries([...ids].map(([name, id]) => [name, kinds.get(id) ?? []]))).toEqual(
    Object.fromEntries(Object.entries(SCENES).map(([name, { finds }]) => [name, finds])),
  );
  expect(rows).toHaveLength(Object.values(SCENES).filter(({ finds }) => finds.length > 0).length);
}, 60_000);
