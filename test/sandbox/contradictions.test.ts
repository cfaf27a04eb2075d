import { describe, expect, it } from 'vitest';
import { type FindingKind, FINDING_KIND_NAMES } from '../../schemas/findings.ts';
import type { FullCallback } from '../../schemas/gateway/callback.ts';
import type { FullStatusReply } from '../../schemas/gateway/status-reply.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import type { OrderTruth } from '../../sandbox/truth.ts';
import { create, deposit, receiver, sandboxWithClock, status, until, type Received } from './support.ts';

const ORDERS = 12;
const HOUR_MS = 3_600_000;

/** What was heard of one order: replies while it lived and after, callbacks, and the watch message. */
interface Heard {
  readonly truth: OrderTruth;
  readonly replies: readonly { readonly status: number; readonly body: FullStatusReply }[];
  readonly callbacks: readonly FullCallback[];
  readonly watch: { readonly amount: string; readonly currency: string } | undefined;
}

/** Lets orders live that all have this contradiction, where it suits them, and listens. */
async function hear(kind: FindingKind, share = 1): Promise<Heard[]> {
  await using merchant = await receiver();
  await using shop = await receiver();
  await using rig = await sandboxWithClock({
    seed: 'contradictions',
    lateShare: 0,
    retentionMs: 100 * HOUR_MS,
    callbacks: { url: merchant.url },
    watchUrl: shop.url,
  });
  const { sandbox, clock } = rig;
  sandbox.contradictions.start({ kind, share });
  const ids: string[] = [];
  for (let n = 0; n < ORDERS; n++) {
    const { json } = await create(sandbox, deposit(`shop-${n}`));
    ids.push((json as { externalId: string }).externalId);
  }
  const replies = new Map<string, { status: number; body: FullStatusReply }[]>();
  for (const afterMs of [0, 5_000, 600_000, 3 * HOUR_MS, 1_000]) {
    clock.advance(afterMs);
    await until(() => sandbox.stats().callbacksPending === 0, 'callbacks answered');
    for (const id of ids) {
      const { status: code, json } = await status(sandbox, id);
      replies.set(id, [...(replies.get(id) ?? []), { status: code, body: json as FullStatusReply }]);
    }
  }
  const of = (received: readonly Received[], id: string): never[] =>
    received.map(({ body }) => JSON.parse(body) as never).filter(({ externalId }) => externalId === id);
  return truthsOf(sandbox, ids).map((truth) => ({
    truth,
    replies: replies.get(truth.externalId) ?? [],
    callbacks: of(merchant.received, truth.externalId),
    watch: of(shop.received, truth.externalId)[0],
  }));
}

const truthsOf = (sandbox: Sandbox, ids: readonly string[]): OrderTruth[] =>
  sandbox.orders().filter(({ externalId }) => ids.includes(externalId));

const finals = ({ callbacks }: Heard): FullCallback[] =>
  callbacks.filter((one) => ['Success', 'Failed'].includes(one.status));
const last = ({ replies }: Heard): FullStatusReply | undefined => replies.at(-1)?.body;
const has = (heard: Heard, pattern: RegExp): boolean =>
  last(heard)?.orderHistory.some(({ action }) => pattern.test(action)) === true;

/** What whoever listens can see for himself. */
const SHOWS: Readonly<Record<FindingKind, (heard: Heard) => boolean>> = {
  // Some come and do not verify; the number of those that come shows which were left out.
  CALLBACK_MISSING: (heard) =>
    heard.truth.contradiction?.faults[0] === 'callback_wrong_signature'
      ? finals(heard).length === 1
      : finals(heard).length === 0,
  CALLBACK_WITHOUT_HISTORY: (heard) => finals(heard).length === 1 && !has(heard, /^6\./),
  CALLBACK_FOR_UNKNOWN_ORDER: (heard) =>
    heard.callbacks.length > 0 && heard.replies.every((reply) => reply.status === 404),
  STATUS_DISAGREES: (heard) =>
    last(heard)?.orderStatus === 'Processing' || new Set(finals(heard).map((one) => one.status)).size === 2,
  AMOUNT_DISAGREES: (heard) =>
    [heard.watch?.amount, finals(heard)[0]?.amount].includes(((last(heard)?.amount ?? 0) + 1).toFixed(2)),
  CURRENCY_DISAGREES: (heard) =>
    heard.watch?.currency !== last(heard)?.currency || finals(heard)[0]?.currency !== last(heard)?.currency,
  HISTORY_REWRITTEN: (heard) =>
    heard.replies.some(({ body }) => body.orderHistory[1]?.action === '1.1.1.00') &&
    last(heard)?.orderHistory[1]?.action !== '1.1.1.00',
  SUCCESS_AFTER_FAILED: (heard) => has(heard, /^4\.1\.4\.00$/) && last(heard)?.orderStatus === 'Success',
  STUCK_PROCESSING: (heard) => has(heard, /^4\.2\.2\.13$/) && last(heard)?.orderStatus === 'Processing',
  SIGNATURE_CONFLICT: (heard) => new Set(finals(heard).map((one) => JSON.stringify(one))).size === 2,
  REPLAYED: (heard) => finals(heard).length === 2,
  FIRST_SEEN_TRANSITION: (heard) => has(heard, /^2\.2\.2\.\d\d$/),
};

describe('contradictions', () => {
  it.each(FINDING_KIND_NAMES)('lasts for the whole order: %s', async (kind) => {
    const orders = await hear(kind);
    const contradicting = orders.filter(({ truth }) => truth.contradiction !== null);
    expect(contradicting.length).toBeGreaterThan(ORDERS / 3);
    expect(contradicting.filter(({ truth }) => truth.contradiction?.kind !== kind)).toEqual([]);
    expect(contradicting.filter((one) => !SHOWS[kind](one))).toEqual([]);
  });

  it('leaves other orders as they were, and gives one order one of them', async () => {
    const half = await hear('CALLBACK_MISSING', 0.5);
    const without = await hear('CALLBACK_MISSING', 0);
    expect(without.every(({ truth }) => truth.contradiction === null)).toBe(true);
    const healthy = half.filter(({ truth }) => truth.contradiction === null);
    expect(healthy.length).toBeGreaterThan(0);
    expect(healthy.length).toBeLessThan(ORDERS);
    for (const { truth, callbacks } of healthy) {
      const same = without.find((one) => one.truth.externalId === truth.externalId);
      expect(truth.items).toEqual(same?.truth.items);
      expect(callbacks).toEqual(same?.callbacks);
    }
  });
});
