import { afterAll, beforeAll, expect, it } from 'vitest';
import { cardLikeIdsFinding, clockSkewFinding } from '../../../operate/doctor/store-check.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';

let seeded: SeededStore;
let store: Store;
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore(seeded.connection);
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

it('warns of a gateway whose own ids pass for card numbers, and of no other', async () => {
  const now = Date.now();
  const callback = (gateway: string, externalId: string, verdict: 'valid' | 'mismatch') => ({
    gateway,
    externalId,
    verdict,
    receivedAt: now,
    content: `${gateway}${externalId}`,
  });
  await seeded.seed({
    callbacks: [
      callback('numbers', '~9:16:0a1b2c3d4e5f6071', 'valid'),
      callback('numbers', '~9:19:1a1b2c3d4e5f6071', 'valid'),
      callback('numbers', '4711', 'valid'),
      callback('names', '~a a:16:0a1b2c3d4e5f6071', 'valid'),
      callback('forged', '~9:16:2a1b2c3d4e5f6071', 'mismatch'),
    ],
  });
  expect(await cardLikeIdsFinding(store)).toEqual([
    {
      check: 'store: ids',
      status: 'warn',
      message: expect.stringMatching(
        /^Of gateway numbers, 2 ids of the last 7 days have 13 to 19 digits/,
      ) as string,
      advice: expect.stringContaining('cardLikeIds: keep') as string,
    },
  ]);
});

it('compares the newest history of each gateway with the clock, as running collectors found it', async () => {
  const now = Date.now();
  const report = (gateway: string, clockSkewSeconds: number, reportedAt = now) => ({
    gateway,
    reportedAt,
    watermarkAt: reportedAt,
    clockSkewSeconds,
  });
  await seeded.seed({
    gatewayStatus: [
      report('agrees', 0),
      report('ahead', 28_800),
      report('behind', -5_400),
      report('drifts', 40),
      report('gone', 28_800, now - 600_000),
    ],
  });
  const found = await clockSkewFinding(store);
  expect(found.map(({ check, status, message }) => `${status} ${check}: ${message}`)).toEqual([
    'ok gateway agrees: history: Its newest items are dated as our clock says.',
    'fail gateway ahead: history: Its newest items are dated 8.0 hours ahead of our clock.',
    'fail gateway behind: history: Its newest items are dated 1.5 hours behind our clock.',
    'warn gateway drifts: history: Its newest items are dated 40 s ahead of our clock.',
  ]);
});
