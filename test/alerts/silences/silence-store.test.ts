import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkSilenceRequest } from '../../../alerts/silences/request.ts';
import {
  addSilence,
  endSilence,
  knownGateways,
  readSilences,
} from '../../../alerts/silences/silence-store.ts';
import { DATABASE } from '../../../schemas/names.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { dateTime64, startSeededStore, type SeededStore } from '../../support/seed-store.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 12, 0);

let seeded: SeededStore;
let store: Store;
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore({ ...seeded.connection, database: DATABASE });
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

const requestOf = (input: object) => {
  const checked = checkSilenceRequest(input, ['acme-eu']);
  return checked.ok ? checked.request : expect.fail(JSON.stringify(checked.problem));
};
const ids = async (nowMs: number) => (await readSilences(seeded.query, nowMs)).map(({ id }) => id);

it('keeps what is asked for, until its end or until it is taken back', async () => {
  const reason = `It's <b>"quoted"</b> \\ back`;
  const silenced = await addSilence(
    store,
    requestOf({
      kind: 'silenced',
      rule: 'TechTimeouts',
      gateway: 'acme-eu',
      slice: 'channel=p2p',
      for: '2h',
      reason,
      by: 'Ann',
    }),
    NOW,
  );
  const acknowledged = await addSilence(
    store,
    requestOf({ kind: 'acknowledged', rule: 'all', reason }),
    NOW + HOUR,
  );
  expect(await readSilences(seeded.query, NOW + HOUR)).toEqual([acknowledged, silenced]);
  expect(silenced).toMatchObject({ rule: 'GatewatchTechTimeouts', until: NOW + 2 * HOUR, reason, by: 'Ann' });
  expect(await ids(NOW - 1)).toEqual([]);
  expect(await ids(NOW + 2 * HOUR)).toEqual([acknowledged.id]);
  expect(await endSilence(seeded.query, store, acknowledged.id, NOW + 3 * HOUR)).toEqual(acknowledged);
  expect(await ids(NOW + 3 * HOUR)).toEqual([]);
  expect(await endSilence(seeded.query, store, acknowledged.id, NOW + 4 * HOUR)).toBeNull();
  expect(await endSilence(seeded.query, store, "x' OR 1", NOW)).toBeNull();
  // Nothing is lost: it is a row that says when it was over.
  const { data } = await seeded.query(
    'SELECT count() AS rows, countIf(ended_at IS NOT NULL) AS over FROM alert_silences',
  );
  expect(data).toMatchObject([{ rows: 2, over: 1 }]);
});

it('knows the gateways of the configuration', async () => {
  const row = { rule: '', setting: 'set', value: 1, configured_at: dateTime64(NOW) };
  await seeded.seed({
    rows: {
      alertSettings: [
        { ...row, gateway: 'acme-us', rule: '*' },
        { ...row, gateway: 'acme-eu', rule: '*' },
      ],
    },
  });
  expect(await knownGateways(seeded.query)).toEqual(['acme-eu', 'acme-us']);
});
