import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EvaluationNumbers } from '../../../alerts/evaluate/instance.ts';
import { readExplanation, type Explanation } from '../../../alerts/explain/explanation.ts';
import { atRiskText, NOTHING_STANDS_OUT, explanationText } from '../../../alerts/explain/explanation-text.ts';
import { traceId } from '../../../collector/decode/ids.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { ruleNamed } from '../support/evaluations.ts';
import { MINUTE, NOW, PAID, REFUSED, TIMED_OUT, traffic } from '../traffic.ts';

const FROM = NOW - 15 * MINUTE;
const TO = NOW - 30_000;

let seeded: SeededStore;
let store: Store;
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore(seeded.connection);
  const during = (gateway: string, orders: number, codes: (n: number) => readonly string[]) =>
    traffic({ gateway, orders, from: FROM + MINUTE, to: TO - MINUTE, codes });
  const before = (gateway: string, orders: number) =>
    traffic({ gateway, orders, from: FROM - 13 * MINUTE, to: FROM - MINUTE, codes: () => PAID });
  // Channels are card and p2p, one after the other.
  const card = during('one-channel', 200, (n) => (n % 2 === 0 && n < 160 ? TIMED_OUT : PAID));
  const reply = {
    gateway: 'one-channel',
    observedAt: TO,
    status: 'Failed',
    outcome: 'technical_failure',
  } as const;
  await seeded.seed({
    orders: [
      ...card,
      ...during('everywhere', 200, (n) => (n % 4 < 2 ? TIMED_OUT : PAID)),
      ...during('refused', 200, (n) => (n % 4 < 2 ? REFUSED : PAID)),
      ...before('refused', 200),
      ...before('dropped', 200),
      ...during('dropped', 100, () => PAID).filter(({ channel }, n) => channel === 'p2p' || n < 10),
      ...during('vanished', 10, () => PAID),
      ...before('vanished', 200),
    ],
    callbacks: Array.from({ length: 24 }, (_, n) => ({
      gateway: n < 12 ? 'signed-wrong' : 'half-forged',
      externalId: n < 12 ? `order-${n}` : n < 14 ? `genuine-${n - 12}` : `forged-${n}`,
      receivedAt: FROM + MINUTE + n * 1000,
      verdict: 'mismatch',
      signatureCause: n % 12 < 8 ? 'amount_two_decimals' : n % 12 < 10 ? 'unexplained' : 'not_examined',
    })),
    replies: [
      { ...reply, externalId: card[0]?.externalId ?? '', amount: '12345678901.23', currency: 'EUR' },
      { ...reply, externalId: card[2]?.externalId ?? '', amount: '0.1', currency: 'EUR' },
      { ...reply, externalId: card[4]?.externalId ?? '', amount: '300', currency: 'USD' },
      { ...reply, gateway: 'half-forged', externalId: 'genuine-0', amount: '1', currency: 'EUR' },
      { ...reply, gateway: 'half-forged', externalId: 'genuine-1', amount: '1', currency: 'EUR' },
      // Paid: no risk.
      { ...reply, externalId: card[1]?.externalId ?? '', amount: '7', currency: 'EUR' },
    ],
  });
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

async function explanation(
  rule: AlertRuleName,
  gateway: string,
  numbers: Partial<EvaluationNumbers>,
): Promise<Explanation> {
  const found = await readExplanation((sql) => store.query(sql), ruleNamed(rule), {
    gateway,
    slice: '',
    label: '',
    as_of: NOW * 1000,
    window_from: FROM * 1000,
    window_to: TO * 1000,
    seen: 200,
    affected: 80,
    expected: null,
    limit: 5,
    share: null,
    number: null,
    ...numbers,
  });
  return found ?? expect.fail('no answer');
}

describe('an incident of callbacks that do not verify', () => {
  const ask = (rule: AlertRuleName, gateway: string) =>
    explanation(rule, gateway, { affected: 12, seen: 12 });

  it('has an order as its example that is known otherwise, and none where there is no such order', async () => {
    expect((await ask('GatewatchCallbackKeyBroken', 'signed-wrong')).example).toBeNull();
    expect((await ask('GatewatchCallbackKeyBroken', 'half-forged')).example).toMatchObject({
      externalId: 'genuine-1',
    });
  });
});

describe('an incident of one channel', () => {
  const ask = () => explanation('GatewatchTechTimeouts', 'one-channel', { label: 'GATEWAY_CREATE' });

  it('has the channel named first, with its orders and those of the rest', async () => {
    const { slices } = await ask();
    // Orders that were paid have not been seen at the stage of the timeouts with a failure.
    expect(slices[0]).toMatchObject({
      dimension: 'channel',
      value: 'card',
      seen: 100,
      affected: 80,
      against: { of: 'rest', seen: 100, affected: 0 },
      explained: 80,
    });
    expect(slices).toHaveLength(1);
    expect(explanationText({ slices }, 'share')).toBe(
      'channel card: 80 of 100 orders (80 %), the rest 0 of 100 (0 %)',
    );
  });

  it('says what is at risk in each currency, exactly, and how many orders have no amount', async () => {
    const { atRisk } = await ask();
    expect(atRisk).toEqual({
      amounts: [
        { currency: 'EUR', amount: '12345678901.33' },
        { currency: 'USD', amount: '300' },
      ],
      withoutAmount: 77,
    });
    expect(atRiskText(atRisk ?? expect.fail())).toBe(
      '12,345,678,901.33 EUR, 300 USD; 77 orders without amount',
    );
  });

  it('gives the newest affected order as an example, with the trace that is exported of it', async () => {
    const { example } = await ask();
    const externalId = `one-channel-${FROM + MINUTE}-158`;
    expect(example).toMatchObject({
      externalId,
      traceId: traceId({ gateway: 'one-channel', orderType: 'Deposit', externalId }),
    });
    expect(example?.url).toMatch(
      /^\/d\/gatewatch-order\?from=\d+&to=\d+&var-order_id=one-channel-\d+-158&var-gateway=one-channel&var-order_type=Deposit$/,
    );
  });
});

it('callbacks whose signature does not match have their main cause named first, with what to do', async () => {
  const found = await explanation('GatewatchCallbackKeyBroken', 'signed-wrong', { seen: 12, affected: 12 });
  expect(found.signature).toEqual({ cause: 'amount_two_decimals', callbacks: 8, of: 10 });
  expect(explanationText(found, 'share').split('\n')[0]).toMatch(
    /^8 of 10 callbacks whose signature does not match: It verifies when the amount is written with two decimals\. Inform/,
  );
  const other = await explanation('GatewatchTechTimeouts', 'signed-wrong', { label: 'CHECK' });
  expect(other.signature).toBeNull();
});

it('an incident that is everywhere alike has nothing that stands out', async () => {
  const { slices } = await explanation('GatewatchTechTimeouts', 'everywhere', {
    label: 'GATEWAY_CREATE',
    affected: 100,
  });
  expect(slices).toEqual([]);
  expect(explanationText({ slices }, 'share')).toBe(NOTHING_STANDS_OUT);
});

it('an outcome is explained by the reason that is new, against the time before', async () => {
  const { slices } = await explanation('GatewatchTechnicalBurnFast', 'refused', { affected: 100 });
  expect(slices).toMatchObject([
    {
      value: '21 401_UNAUTHORIZED',
      seen: 200,
      affected: 100,
      against: { of: 'before', affected: 0 },
    },
  ]);
});

describe('a drop', () => {
  it('is explained by the channel that went away', async () => {
    const { slices, atRisk, example } = await explanation('GatewatchTrafficDrop', 'dropped', {
      seen: 55,
      affected: 55,
      expected: 200,
    });
    expect(slices).toMatchObject([
      { dimension: 'channel', value: 'card', seen: 100, affected: 5, against: { seen: 100, affected: 50 } },
    ]);
    expect({ atRisk, example }).toEqual({ atRisk: null, example: null });
  });

  it('of all orders has nothing that stands out', async () => {
    const { slices } = await explanation('GatewatchTrafficDrop', 'vanished', {
      seen: 10,
      affected: 10,
      expected: 200,
    });
    expect(slices).toEqual([]);
  });
});

it('a rule that counts no orders is not asked about', async () => {
  const query = () => Promise.reject(new Error('no statement is needed'));
  expect(await readExplanation(query, ruleNamed('GatewatchConsumerLag'), {} as EvaluationNumbers)).toBeNull();
});
