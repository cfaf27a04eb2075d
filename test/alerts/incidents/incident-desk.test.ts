import { afterAll, beforeAll, expect, it } from 'vitest';
import { createIncidentDesk } from '../../../alerts/incidents/incident-desk.ts';
import { StoreError } from '../../../store/store-error.ts';
import { DATABASE } from '../../../schemas/names.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { stateRow } from '../support/evaluation-rows.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 21, 12, 0);
const rule = 'GatewatchTechTimeouts';

let seeded: SeededStore;
let store: Store;
let now = NOW;
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore({ ...seeded.connection, database: DATABASE });
  const labels = { gateway: 'acme-eu', stage: 'CHECK' };
  const firedAt = NOW - 5 * MINUTE;
  const state = { rule, labels, changedAt: firedAt, evaluatedAt: NOW, firingSince: firedAt } as const;
  await seeded.seed({ rows: { alertStates: [stateRow({ ...state, state: 'Alerting' })] } });
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

it('shows at once what somebody has silenced or taken back, and refuses what makes no sense', async () => {
  const desk = createIncidentDesk({ query: seeded.query, store, gateways: ['acme-eu'], now: () => now });
  const held = async () =>
    (await desk.incidents(0)).incidents.map(({ alerts }) => alerts.map((one) => one.held?.reason));
  expect(await held()).toEqual([[undefined]]);
  const request = { kind: 'silenced', rule, gateway: 'acme-eu', for: '2h', reason: '<b>ours</b>' };
  const silenced = await desk.silence(request);
  if (!('answer' in silenced)) return expect.fail(silenced.problem);
  expect(await held()).toEqual([['<b>ours</b>']]);
  expect((await desk.incidents(7)).silences).toEqual([silenced.answer]);
  expect(await desk.silence({ ...request, gateway: 'acme' })).toEqual({
    status: 400,
    problem: 'gateway: expected one of acme-eu, or nothing for any, received "acme"',
  });
  expect(await desk.silence(undefined)).toMatchObject({ status: 400 });
  now += MINUTE;
  expect(await desk.unsilence(silenced.answer.id)).toEqual(silenced);
  expect(await held()).toEqual([[undefined]]);
  expect(await desk.unsilence(silenced.answer.id)).toMatchObject({ status: 404 });
});

it('says that the store is away', async () => {
  const away = () => Promise.reject(new StoreError('away', { code: 'store_unavailable', retryable: true }));
  const desk = createIncidentDesk({ query: away, store: { insert: away }, gateways: [], now: () => now });
  expect(await desk.incidents(0)).toMatchObject({ incidents: [], error: expect.stringMatching(/./) });
  expect(await desk.silence({ kind: 'acknowledged', rule, reason: 'x' })).toMatchObject({ status: 503 });
});
