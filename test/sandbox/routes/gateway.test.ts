import { describe, expect, it } from 'vitest';
import { CATALOGUE, ORDER_STATUSES } from '../../../schemas/dictionary.ts';
import {
  statusReplySchema,
  historyItemSchema,
  type FullStatusReply,
} from '../../../schemas/gateway/status-reply.ts';
import { call, create, deposit, PATH, PAYOUT_PATH, sandboxWithClock, START_MS, status } from '../support.ts';

const MINUTE = 60_000;
const CATALOGUED: ReadonlySet<string> = new Set(CATALOGUE.map(({ action }) => action));

describe('reading a status (sections 4.3-4.5)', () => {
  it('answers by service id and by merchant id with the same whole reply, for deposits and payouts', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    await create(sandbox, deposit('mine-1'));
    sandbox.createWithdrawal({ amount: 12.5, currency: 'USD', externalTransactionId: 'payout-1' });
    clock.advance(3 * MINUTE);
    for (const [path, order] of [
      [PATH, sandbox.orders()[0]],
      [PAYOUT_PATH, sandbox.orders()[1]],
    ] as const) {
      const byId = await call('GET', `${sandbox.secureUrl}${path}/${order?.externalId}/status`, {
        token: sandbox.token,
      });
      const url = `${sandbox.secureUrl}${path}/${order?.externalTransactionId}/status-by-external-transaction-id/`;
      const byOther = await call('GET', url, { token: sandbox.token });
      expect(byId.status).toBe(200);
      expect(byOther.text).toBe(byId.text);
      const reply = statusReplySchema.parse(byId.json);
      expect(reply).toMatchObject({
        externalId: order?.externalId,
        orderType: order?.orderType,
        currency: order?.currency,
      });
      expect(typeof reply.amount).toBe('number');
      expect(Object.keys(byId.json as object).sort()).toEqual([
        'amount',
        'currency',
        'externalId',
        'externalParams',
        'externalTransactionId',
        'orderHistory',
        'orderStatus',
        'orderType',
      ]);
    }
  });

  it('answers below each of the three addresses', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    await create(sandbox, deposit('m'));
    for (const base of [sandbox.secureUrl, sandbox.tokenUrl, sandbox.payformUrl]) {
      const url = `${base}${PATH}/m/status-by-external-transaction-id`;
      expect((await call('GET', url, { token: sandbox.token })).status).toBe(200);
    }
  });

  it('answers 404 to an id it does not know, also to a payout asked for as a deposit', async () => {
    await using rig = await sandboxWithClock();
    const payout = rig.sandbox.createWithdrawal();
    expect((await status(rig.sandbox, 'nobody')).status).toBe(404);
    expect((await status(rig.sandbox, payout.externalId)).status).toBe(404);
    expect((await call('GET', `${rig.sandbox.secureUrl}/api/v2/anything`)).status).toBe(404);
  });

  it('needs a token, before it says whether the order exists', async () => {
    await using rig = await sandboxWithClock();
    expect((await status(rig.sandbox, 'nobody', null)).status).toBe(401);
    expect((await status(rig.sandbox, 'nobody', 'wrong')).status).toBe(401);
    expect((await status(rig.sandbox, 'nobody', rig.sandbox.tokens['p2p'])).status).toBe(404);
  });
});

describe('the history in a reply (section 2.4)', () => {
  it('shows what has happened by now and nothing of the future, in time order, for every order', async () => {
    await using rig = await sandboxWithClock({ ratePerSecond: 20, lateShare: 1, seed: 'history' });
    const { sandbox, clock } = rig;
    sandbox.start();
    clock.advance(2000);
    sandbox.setRate(0);
    const before = new Map<string, FullStatusReply>();
    for (const step of [0, 2000, 10_000, 30_000, MINUTE, 2 * MINUTE, 6 * MINUTE, 12 * MINUTE]) {
      clock.advance(step);
      for (const truth of sandbox.orders()) {
        const path = truth.orderType === 'Deposit' ? PATH : PAYOUT_PATH;
        const { json } = await call('GET', `${sandbox.secureUrl}${path}/${truth.externalId}/status`, {
          token: sandbox.token,
        });
        const reply = json as FullStatusReply;
        statusReplySchema.parse(reply);
        const times = reply.orderHistory.map(({ time }) => Date.parse(time));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(Math.max(...times)).toBeLessThanOrEqual(clock.now());
        expect(ORDER_STATUSES).toContain(reply.orderStatus);
        for (const item of reply.orderHistory) {
          expect(historyItemSchema.safeParse(item).success).toBe(true);
          expect(item.time).toMatch(
            truth.channel === 'p2p' ? /T\d\d:\d\d:\d\d\.\d{6}Z$/ : /T\d\d:\d\d:\d\d\.\d{3}Z$/,
          );
          expect(CATALOGUED).toContain(item.action);
        }
        // Nothing that was shown goes away again.
        for (const item of before.get(truth.externalId)?.orderHistory ?? [])
          expect(reply.orderHistory).toContainEqual(item);
        before.set(truth.externalId, reply);
      }
    }
    for (const truth of sandbox.orders()) {
      const reply = before.get(truth.externalId);
      expect(truth.settled).toBe(true);
      expect(reply?.orderHistory).toEqual(truth.items.map(({ time, action }) => ({ time, action })));
      expect(reply?.orderStatus).toBe(truth.finalStatus);
      expect(reply?.amount).toBe(truth.finalAmount);
    }
    expect(sandbox.orders().length).toBeGreaterThan(15);
  });

  it('has a late item land in the middle of a list that already ended', async () => {
    await using rig = await sandboxWithClock({ lateShare: 1 });
    const { sandbox, clock } = rig;
    let seen = 0;
    for (let i = 0; i < 30; i++) await create(sandbox, deposit(`late-${i}`));
    const coming = sandbox.orders().flatMap((truth) => {
      const last = truth.items.find((item) => item.visibleAtMs > Date.parse(item.time) + 2);
      return last && last.visibleAtMs === truth.settledAtMs ? [{ truth, last }] : [];
    });
    for (const { truth, last } of coming.toSorted((a, b) => a.last.visibleAtMs - b.last.visibleAtMs)) {
      clock.advance(last.visibleAtMs - 0.1 - clock.now());
      const early = ((await status(sandbox, truth.externalId)).json as FullStatusReply).orderHistory;
      expect(((await status(sandbox, truth.externalId)).json as FullStatusReply).orderStatus).toBe(
        truth.finalStatus,
      );
      clock.advance(0.1);
      const late = ((await status(sandbox, truth.externalId)).json as FullStatusReply).orderHistory;
      const at = late.findIndex((item) => item.action === last.action && item.time === last.time);
      expect(at).toBeGreaterThan(-1);
      expect(late.toSpliced(at, 1)).toEqual(early);
      if (at < late.length - 1) seen++;
    }
    expect(seen).toBeGreaterThan(3);
  });

  it('is shortened by speed, late items included, while time stamps stay wall-clock times', async () => {
    await using slow = await sandboxWithClock({ seed: 'speed', lateShare: 1 });
    await using fast = await sandboxWithClock({ seed: 'speed', lateShare: 1, speed: 20 });
    for (let i = 0; i < 20; i++) {
      await create(slow.sandbox, deposit(`s-${i}`));
      await create(fast.sandbox, deposit(`s-${i}`));
    }
    for (const [i, truth] of slow.sandbox.orders().entries()) {
      const quick = fast.sandbox.orders()[i];
      expect(quick?.items.map(({ action }) => action)).toEqual(truth.items.map(({ action }) => action));
      for (const [j, item] of truth.items.entries()) {
        const offset = (quick?.items[j]?.visibleAtMs ?? 0) - START_MS;
        expect(offset).toBeCloseTo((item.visibleAtMs - START_MS) / 20, 3);
      }
      expect(truth.settledAtMs - START_MS).toBeCloseTo(((quick?.settledAtMs ?? 0) - START_MS) * 20, 2);
    }
  });
});
