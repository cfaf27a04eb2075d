import { expect, it } from 'vitest';
import { createBreaches } from '../../../alerts/evaluate/breach-memory.ts';
import { evaluation, ruleNamed } from '../support/evaluations.ts';

const RULE = ruleNamed('GatewatchTechTimeouts');
const START = Date.parse('2026-03-02T12:00:00Z') / 1000;
const PLACE = { rule: RULE.name, gateway: 'acme-eu', label: 'CHECK' };

/** The instants that the store was asked about, and a memory over it. */
function memory(stored: readonly object[] = []) {
  const asked: string[] = [];
  const query = async <T>(sql: string): Promise<T[]> => {
    asked.push(sql);
    return stored as T[];
  };
  return { asked, breaches: createBreaches(query) };
}

const breach = (slice: string, asOf: number) => evaluation(RULE, asOf * 1000, { ...PLACE, slice, breach: 1 });

it('follows a slice for an hour after its last breach, and lets it lead for a quarter of one', async () => {
  const { breaches, asked } = memory();
  await breaches.recall(START);
  breaches.note([breach('channel=p2p', START)]);
  for (let minute = 1; minute <= 61; minute += 1) {
    const { followed, leadBefore } = await breaches.recall(START + minute * 60);
    expect([...followed(PLACE)]).toEqual(minute < 60 ? ['channel=p2p'] : []);
    expect(leadBefore(PLACE)).toBe(minute < 15 ? 'channel=p2p' : null);
    breaches.note([]);
  }
  expect(asked).toHaveLength(1);
});

it('lets lead what was in breach last, and knows other gateways and labels apart', async () => {
  const { breaches } = memory();
  await breaches.recall(START);
  breaches.note([breach('channel=p2p', START)]);
  await breaches.recall(START + 60);
  breaches.note([breach('', START + 60)]);
  const { followed, leadBefore } = await breaches.recall(START + 120);
  expect(leadBefore(PLACE)).toBe('');
  expect([...followed(PLACE)]).toEqual(['channel=p2p', '']);
  expect(leadBefore({ ...PLACE, gateway: 'other' })).toBe(null);
  expect(leadBefore({ ...PLACE, label: 'GATEWAY_CREATE' })).toBe(null);
});

it('asks the store again after a gap, and when instants go back', async () => {
  const { breaches, asked } = memory([{ ...PLACE, slice: 'currency=BRL', at: START + 3_000 }]);
  for (const at of [START, START + 60, START + 3_600, START + 60]) await breaches.recall(at);
  expect(asked).toHaveLength(3);
  const { leadBefore } = await breaches.recall(START + 120);
  expect(leadBefore(PLACE)).toBe('currency=BRL');
});

it('knows the label under which a slice was in breach last, of some rules', async () => {
  const { breaches } = memory();
  const labelOf = async (minute: number, slice: string) =>
    (await breaches.recall(START + minute * 60)).labelBefore([RULE.name], PLACE.gateway, slice);
  await breaches.recall(START);
  breaches.note([breach('channel=p2p', START)]);
  expect(await labelOf(1, 'channel=p2p')).toBe('CHECK');
  expect(await labelOf(2, '')).toBeNull();
  const { leadBefore, labelBefore } = await breaches.recall(START + 180);
  expect(leadBefore({ ...PLACE, label: null })).toBe('channel=p2p');
  expect(labelBefore(['GatewatchSlow'], PLACE.gateway, 'channel=p2p')).toBeNull();
  expect(await labelOf(61, 'channel=p2p')).toBeNull();
});
