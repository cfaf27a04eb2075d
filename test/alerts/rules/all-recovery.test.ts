import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, traffic } from '../traffic.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const WEEK = 7 * 24 * 60 * MINUTE;
/** From one minute to four after a stutter began: evaluations a minute apart, at two phases. */
const HALF_MINUTES = Array.from({ length: 7 }, (_, n) => NOW + MINUTE + n * 30_000);

/** `aMinute` orders of one item a minute, between two minutes counted back from `now`. */
const orders = (
  gateway: string,
  aMinute: number,
  [from, to]: readonly [number, number],
  code: (n: number) => string = () => '2.1.1.00',
  now = NOW,
): SeedOrder[] =>
  traffic({
    gateway,
    orders: Math.round(aMinute * (from - to)),
    from: now - from * MINUTE,
    to: now - to * MINUTE,
    codes: (n) => [code(n)],
  });
const timedOut = (): string => '2.2.4.11';
const began = (): string => '1.0.0.00';
const otherWeeks = (gateway: string, aMinute: number): SeedOrder[] =>
  [1, 2, 3, 4].flatMap((week) => orders(gateway, aMinute, [370, -30], began, NOW - week * WEEK));

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  const gateways = {
    busy: [...orders('busy', 20, [70, 6], timedOut), ...orders('busy', 20, [6, 0])],
    quiet: [...orders('quiet', 0.2, [70, 6], timedOut), ...orders('quiet', 0.2, [6, 0])],
    stutter: [
      ...orders('stutter', 400, [6, 0]),
      // Channels take turns: as many of each time out.
      ...orders('stutter', 400, [0, -2], (n) => (Math.floor(n / 2) % 10 < 3 ? timedOut() : '2.1.1.00')),
      ...orders('stutter', 400, [-2, -6]),
    ],
    returned: [
      ...otherWeeks('returned', 6),
      ...orders('returned', 6, [370, 70], began),
      ...orders('returned', 6, [6, 0], began),
    ],
    gone: [...otherWeeks('gone', 6), ...orders('gone', 6, [370, 70], began)],
    halved: [
      ...otherWeeks('halved', 12),
      ...orders('halved', 14.4, [370, 14], began),
      ...orders('halved', 7.2, [14, 0], began),
    ],
  };
  for (const each of Object.values(gateways))
    for (let from = 0; from < each.length; from += 5000)
      await store.seed({ orders: each.slice(from, from + 5000) });
  await store.seed({
    gatewayStatus: [NOW, ...HALF_MINUTES].flatMap((at) =>
      Object.keys(gateways).map((gateway) => ({ gateway, reportedAt: at - 5000, watermarkAt: at - 5000 })),
    ),
  });
});
afterAll(() => store?.stop());

/** Gateways for which the rule fires. */
async function firing(title: string, at = NOW): Promise<(string | undefined)[]> {
  const rule = loadRules(OUT).find((one) => one.title === title) ?? expect.fail(`no rule ${title}`);
  const { instances } = await evaluations.grafana(rule, at);
  return instances.filter((one) => one.firing).map(({ labels }) => labels['gateway']);
}

it('an incident of an hour has ended minutes after it did where there is traffic, and not before where there is little', async () => {
  const fires = await firing('GatewatchTechTimeouts');
  expect(fires).not.toContain('busy');
  expect(fires).toContain('quiet');
});

it('nobody is notified of a stutter of two minutes, whenever the evaluations are', async () => {
  const held: boolean[] = [];
  for (const at of HALF_MINUTES) held.push((await firing('GatewatchTechTimeouts', at)).includes('stutter'));
  // It is pending once at most: never at two evaluations, which are a minute apart.
  expect(held.filter((one, index) => one && held[index + 2] === true)).toEqual([]);
  expect(held).toContain(true);
});

it('traffic that has come back is no drop any more, however long it was gone', async () => {
  const fires = await firing('GatewatchTrafficDrop');
  expect(fires).toContain('gone');
  expect(fires).not.toContain('returned');
});

it('half of the traffic gone is seen on a day that has more than usual', async () => {
  expect(await firing('GatewatchTrafficDrop')).toContain('halved');
});
