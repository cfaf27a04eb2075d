import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import { createStory } from '../../../alerts/notify/story.ts';
import { addSilence } from '../../../alerts/silences/silence-store.ts';
import { DATABASE } from '../../../schemas/names.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { stateRow } from '../support/evaluation-rows.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 21, 12, 0);
const ago = (minutes: number): number => NOW - minutes * MINUTE;

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

const alert = (
  rule: string,
  firedAt: number,
  more: { ended?: number; severity?: string; gateway?: string } = {},
): Alert => ({
  fingerprint: `${rule} ${more.gateway}`,
  status: more.ended === undefined ? 'firing' : 'resolved',
  labels: { alertname: rule, gateway: more.gateway ?? 'acme-eu', severity: more.severity ?? 'critical' },
  annotations: { summary: 'It is broken.' },
  startsAt: new Date(firedAt),
  endsAt: new Date(more.ended ?? NOW),
  generatorUrl: '',
  values: {},
});
const storyOf = (query = seeded.queryAsWriter) =>
  createStory({ query, clock: createFakeClock(NOW), limitMs: 1e9 });
const incidents = (alerts: readonly Alert[]) =>
  alerts.map(({ annotations: { incident, incident_headline: headline } }) => [incident, headline]);

it('tells of every alert to which incident it belongs, as long as that goes on, and of info none', () => {
  const story = storyOf();
  const first = alert('GatewatchTechTimeouts', ago(30), { ended: ago(25) });
  const eu = ['acme-eu/2026-11-21T11:30:00Z', 'acme-eu: The gateway does not answer in time.'];
  expect(incidents(story.annotated([first], ago(24)))).toEqual([eu]);
  const second = alert('GatewatchApprovalDrop', ago(18));
  const info = alert('GatewatchPreviousKeyInUse', ago(18), { severity: 'info' });
  expect(incidents(story.annotated([first, second, info], ago(18)))).toEqual([
    eu,
    eu,
    [undefined, undefined],
  ]);
  // The first is no longer offered: messages still thread onto the first one.
  const other = alert('GatewatchTechTimeouts', ago(4), { gateway: 'acme-us' });
  expect(incidents(story.annotated([second, other], NOW))).toEqual([
    eu,
    ['acme-us/2026-11-21T11:56:00Z', 'acme-us: The gateway does not answer in time.'],
  ]);
});

it('knows after a start what had fired before, and what is silenced', async () => {
  const labels = { gateway: 'acme-eu', stage: 'CHECK' };
  const states = { rule: 'GatewatchTechTimeouts', labels, state: 'Alerting' } as const;
  await seeded.seed({
    rows: {
      alertStates: [
        stateRow({ ...states, changedAt: ago(40), evaluatedAt: ago(1), firingSince: ago(40) }),
        stateRow({
          rule: 'GatewatchHeartbeat',
          labels: { gateway: '' },
          state: 'Alerting',
          changedAt: ago(90),
          evaluatedAt: NOW,
          firingSince: ago(90),
        }),
      ],
    },
  });
  const request = {
    rule: 'GatewatchApprovalDrop',
    gateway: 'acme-eu',
    slice: '',
    label: '',
    by: 'Ann',
  } as const;
  await addSilence(store, { ...request, kind: 'silenced', for: 2 * MINUTE, reason: 'a test' }, ago(1));
  const story = storyOf();
  expect(story.silences()).toBeNull();
  await story.learn();
  const drop = alert('GatewatchApprovalDrop', ago(2));
  const [annotated] = story.annotated([drop], NOW);
  expect(annotated).toMatchObject({
    held: 'silenced',
    annotations: {
      incident: 'acme-eu/2026-11-21T11:20:00Z',
      silenced: 'until 2026-11-21 12:01:00 UTC, by Ann: a test',
    },
  });
  // Nobody has to end it.
  expect(story.annotated([drop], NOW + MINUTE)[0]?.held).toBeUndefined();
});

it('goes on with what it knew while the store is away', async () => {
  let isAway = false;
  const story = storyOf((sql) => (isAway ? Promise.reject(new Error('away')) : seeded.queryAsWriter(sql)));
  await story.learn();
  isAway = true;
  await story.learn();
  expect(story.annotated([alert('GatewatchApprovalDrop', ago(2))], NOW)[0]?.held).toBe('silenced');
});
