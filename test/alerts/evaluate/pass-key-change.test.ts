import { afterAll, beforeAll, expect, it } from 'vitest';
import { RULES } from '../../../alerts/rules/all.ts';
import { type SeededStore, type SeedCallback, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW } from '../traffic.ts';

/** A key that is changed on one side only is no forger: an hour and a half, minute by minute. */

const KEY = 'GatewatchCallbackKeyBroken';
const FORGED = 'GatewatchForgedCallbacks';
const rules = RULES.filter(({ name }) => name === KEY || name === FORGED);

type Fails = (at: number, n: number) => boolean;

/** Callbacks at a steady pace, from 20 minutes before to 70 minutes after. */
const callbacks = (gateway: string, everySeconds: number, fails: Fails): SeedCallback[] =>
  Array.from({ length: (90 * 60) / everySeconds }, (_, n) => {
    const receivedAt = NOW - 20 * MINUTE + n * everySeconds * 1000;
    return {
      gateway,
      externalId: `${gateway}-${n}`,
      receivedAt,
      verdict: fails(receivedAt, n) ? 'mismatch' : 'valid',
    };
  });

/** For 25 minutes all fail: the key was changed, and mended. */
const keyChanged: Fails = (at) => at >= NOW && at < NOW + 25 * MINUTE;

const SENDERS: Readonly<Record<string, readonly [everySeconds: number, fails: Fails]>> = {
  busy: [2, keyChanged],
  quiet: [60, keyChanged],
  // One callback in ten is a stranger's, for ten minutes.
  forged: [2, (at, n) => at >= NOW && at < NOW + 10 * MINUTE && n % 10 === 0],
};

let store: SeededStore;
let evaluations: Evaluations;
/** By sender and rule, the minutes of breach after the change. */
const breaches = new Map<string, number[]>();

beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store, rules);
  for (const [gateway, [every, fails]] of Object.entries(SENDERS))
    await store.seed({ callbacks: callbacks(gateway, every, fails) });
  const minutes = Array.from({ length: 65 }, (_, minute) => minute);
  await store.seed({
    gatewayStatus: minutes.flatMap((minute) =>
      Object.keys(SENDERS).map((gateway) => {
        const at = NOW + minute * MINUTE;
        return { gateway, reportedAt: at, watermarkAt: at };
      }),
    ),
  });
  for (const minute of minutes)
    for (const { gateway, rule, breach } of await evaluations.rows(NOW + minute * MINUTE + 20_000)) {
      const key = `${gateway} ${rule}`;
      if (breach === 1) breaches.set(key, [...(breaches.get(key) ?? []), minute]);
    }
}, 120_000);
afterAll(() => store?.stop());

/** Minutes at which the rule's alert would begin: after it was in breach for its pending time. */
function pages(gateway: string, name: string): number[] {
  const pending = (rules.find((rule) => rule.name === name)?.pendingSeconds ?? 0) / 60;
  const minutes = new Set(breaches.get(`${gateway} ${name}`));
  return [...minutes].filter((minute) => {
    const run = Array.from({ length: pending + 1 }, (_, back) => minute - back);
    return run.every((one) => minutes.has(one)) && !minutes.has(minute - pending - 1);
  });
}

it('a key that is changed is a key within two and a half minutes, and never a forger', () => {
  expect(pages('busy', KEY)).toEqual([2]);
  expect(pages('busy', FORGED)).toEqual([]);
});

it('is no forger either where a callback comes once a minute', () => {
  expect(pages('quiet', KEY)).toHaveLength(1);
  expect(pages('quiet', KEY)[0]).toBeLessThan(10);
  expect(pages('quiet', FORGED)).toEqual([]);
});

it('ends soon after the key is right again', () => {
  expect(Math.max(...(breaches.get(`busy ${KEY}`) ?? []))).toBeLessThan(25 + 4);
});

it('a stranger is a forger, and the key is not suspected', () => {
  expect(pages('forged', FORGED)).toHaveLength(1);
  expect(pages('forged', KEY)).toEqual([]);
});
