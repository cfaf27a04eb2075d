import { beforeEach, expect, it } from 'vitest';
import type { Alert } from '../../../alerts/explain/alert.ts';
import { createExplanationCache } from '../../../alerts/explain/explanation-cache.ts';
import { createFakeClock, type FakeClock, turn } from '../../support/fake-clock.ts';
import { ruleNamed } from '../support/evaluations.ts';

const RULES = [ruleNamed('GatewatchTechTimeouts'), ruleNamed('GatewatchConsumerLag')];
const alert = (given: Partial<Alert> & { readonly name?: string } = {}): Alert => ({
  fingerprint: 'a',
  status: 'firing',
  labels: {
    alertname: given.name ?? 'GatewatchTechTimeouts',
    gateway: 'acme-eu',
    stage: 'CHECK',
    severity: 'critical',
  },
  annotations: { summary: 'as ever' },
  startsAt: new Date('2026-11-21T10:15:00Z'),
  endsAt: new Date('2026-11-21T10:20:00Z'),
  generatorUrl: '',
  values: {
    as_of: 1_795_255_770,
    window_from: 1_795_254_870,
    window_to: 1_795_255_740,
    seen: 150,
    affected: 50,
  },
  ...given,
});
const CELLS = ['card', 'p2p'].map((channel) => ({
  channel,
  order_type: '',
  currency: '',
  amount_band: '',
  age: '',
  stage: '',
  reason: '',
  seen: channel === 'card' ? 50 : 100,
  affected: channel === 'card' ? 50 : 0,
  seenBefore: 0,
  affectedBefore: 0,
}));
const ORDERS = [
  {
    in_currency: 'EUR',
    total: '1240.5',
    without_amount: 0,
    with_amount: 49,
    newest: '2',
    example_type: 'Deposit',
    example_id: 'order-1',
  },
  {
    in_currency: '',
    total: null,
    without_amount: 1,
    with_amount: 0,
    newest: '1',
    example_type: 'Deposit',
    example_id: 'order-2',
  },
];
const EXAMPLE_URL = /^https:\/\/grafana\.example\/d\/gatewatch-order\?.*var-order_id=order-1/;

let clock: FakeClock;
let does: 'answers' | 'hangs' | 'refuses';
let asked: string[];
beforeEach(() => {
  clock = createFakeClock();
  does = 'answers';
  asked = [];
});
function started(signal = new AbortController().signal) {
  return createExplanationCache({
    rules: RULES,
    query: async <T>(sql: string) => {
      asked.push(sql);
      if (does === 'hangs') await new Promise(() => undefined);
      if (does === 'refuses') throw new Error('away');
      return (sql.includes('in_currency') ? ORDERS : CELLS) as T[];
    },
    links: { externalUrl: 'https://grafana.example' },
    limitMs: 5_000,
    clock,
    signal,
  });
}

it('says why, what is at risk and an example, as of when, asked again every five minutes', async () => {
  const cache = started();
  await cache.learn([alert()]);
  const [page] = cache.annotated([alert()]);
  expect(page?.annotations).toEqual({
    summary: 'as ever',
    explanation: expect.stringMatching(
      /^channel card: 50 of 50 orders \(100 %\), the rest 0 of 100 \(0 %\)\nAs of 2026-[-\d]+ [:\d]+ UTC\.$/,
    ) as string,
    at_risk: '1,240.5 EUR; 1 order without amount',
    example: expect.stringMatching(/^order order-1, trace [0-9a-f]{32}$/),
    example_url: expect.stringMatching(EXAMPLE_URL),
  });
  const statements = asked.length;
  const later = alert({ values: { ...alert().values, affected: 70 } });
  await cache.learn([later]);
  await cache.learn([alert({ status: 'resolved' })]);
  expect(cache.annotated([later])[0]?.annotations).toEqual(page?.annotations);
  expect(asked.length).toBe(statements);
  expect(clock.pending()).toBe(0);
  await clock.advance(300_000);
  await cache.learn([later]);
  expect(asked.length).toBe(2 * statements);
});

it('asks again when the alert begins anew, and not about gauges or what is over', async () => {
  const cache = started();
  await cache.learn([alert()]);
  const statements = asked.length;
  await cache.learn([]);
  await cache.learn([alert({ name: 'GatewatchConsumerLag' }), alert({ status: 'resolved' })]);
  expect(asked.length).toBe(statements);
  await cache.learn([alert({ startsAt: new Date('2026-11-21T11:00:00Z') })]);
  expect(asked.length).toBe(2 * statements);
});

it('lets no page wait longer than five seconds, and asks no second time', async () => {
  does = 'hangs';
  const cache = started();
  let over = false;
  void cache.learn([alert()]).then(() => (over = true));
  await clock.advance(4_900);
  expect(over).toBe(false);
  await clock.advance(200);
  expect(over).toBe(true);
  const statements = asked.length;
  does = 'answers';
  await cache.learn([alert()]);
  expect(asked.length).toBe(statements);
  expect(cache.annotated([alert()])[0]?.annotations).toEqual({ summary: 'as ever' });
});

it('goes without where the store refuses, and ends at once when it is to', async () => {
  does = 'refuses';
  const refused = started();
  await refused.learn([alert()]);
  expect(refused.annotated([alert()])[0]?.annotations).toEqual({ summary: 'as ever' });
  does = 'hangs';
  const stopping = new AbortController();
  const learning = started(stopping.signal).learn([alert()]);
  await turn();
  stopping.abort();
  await learning;
  expect(clock.pending()).toBe(0);
});
