import { describe, expect, it } from 'vitest';
import {
  createGatewayState,
  trackOrder,
  type GatewayState,
} from '../../../collector/orders/gateway-state.ts';
import {
  finishRead,
  nextStep,
  receiveReply,
  releasePending,
  retryRead,
  startRequest,
} from '../../../collector/orders/status-requests.ts';
import { pollConfigSchema } from '../../../schemas/config.ts';
import type { HttpReply } from '../../../schemas/polling.ts';
import { watchKey, type WatchedOrder } from '../../../schemas/watch.ts';
import { SECOND, T0, watchedOrder } from '../../support/watched-order.ts';

const policy = pollConfigSchema.parse({ jitter: 0, concurrency: 10, mergeCallbacksMs: 1_000 });
const at = (nowMs: number) => ({ now: T0 + nowMs * 1000, nowMs });
const reply = (more: Partial<HttpReply> = {}): HttpReply => ({
  httpStatus: 200,
  outcome: 'ok',
  errorType: '',
  body: '{}',
  bodyBytes: 2,
  retryAfterMs: null,
  ...more,
});
const order = (more: Partial<WatchedOrder> = {}) => watchedOrder({ orderId: 'a', ...more });
const KEY = watchKey(order());
const next = (more: Partial<WatchedOrder> = {}) => ({
  order: order({ attempt: 1, nextPollAt: T0 + 7 * SECOND, ...more }),
  known: 'known',
  outcome: 'ok' as const,
});

/** A request for one order, begun at 0. */
function asked(owns: GatewayState['owns'] = () => true, limits = {}) {
  const state = createGatewayState(policy, owns, limits);
  trackOrder(state, { order: order(), known: '' }, 'watch', at(0));
  return { state, request: startRequest(state, KEY, at(0)) };
}

describe('a status request', () => {
  it('is begun with what is known of its order, and holds a place until its reply is applied', () => {
    const { state, request } = asked(undefined, { maxPendingReplies: 1 });
    expect(request).toMatchObject({ key: KEY, cause: 'watch', endpoint: 'deposit-status', latenessMs: 0 });
    expect(state).toMatchObject({ inFlight: 1, pendingReplies: 1, requests: 1 });
    trackOrder(state, { order: order({ orderId: 'b' }), known: '' }, 'watch', at(0));
    const received = reply({ bodyBytes: 100 });
    receiveReply(state, request, received, 50);
    expect(state).toMatchObject({ inFlight: 0, pendingReplies: 1, pendingBytes: 100 });
    expect(nextStep(state, 50)).toBeNull();
    releasePending(state, received);
    expect(state).toMatchObject({ pendingReplies: 0, pendingBytes: 0 });
    expect(nextStep(state, 50)).toEqual({ start: watchKey(order({ orderId: 'b' })) });
  });

  it('leads to the next one at the time that its reply gave the order', () => {
    const { state, request } = asked();
    receiveReply(state, request, reply(), 50);
    finishRead(state, request, next(), at(50), at(60));
    expect(state.entries.get(KEY)).toMatchObject({ inFlight: false, cause: 'schedule', dueMs: 7_000 });
    expect(nextStep(state, 60)).toEqual({ waitMs: 6_940 });
  });

  it('is repeated after a while when its reply could not be applied', () => {
    const { state, request } = asked();
    receiveReply(state, request, null, 50);
    retryRead(state, KEY, 50);
    expect(nextStep(state, 50)).toEqual({ waitMs: 5_000 });
  });

  it('is the last one of an order that has ended, and the last of ours for an order that others own', () => {
    for (const [owns, applied] of [
      [() => true, next({ phase: 'settled' })],
      [() => false, next()],
    ] as const) {
      const { state, request } = asked(owns);
      receiveReply(state, request, reply(), 50);
      finishRead(state, request, applied, at(50), at(60));
      expect(state.entries.size).toBe(0);
    }
  });

  it('is followed by another when a callback came meanwhile, also when the order has ended', () => {
    const { state, request } = asked();
    trackOrder(state, { order: order(), known: '' }, 'callback', at(20));
    receiveReply(state, request, reply(), 50);
    finishRead(state, request, next({ phase: 'settled' }), at(50), at(60));
    expect(state.entries.get(KEY)).toMatchObject({ cause: 'callback', urgent: true, dueMs: 1_000 });
    expect(state.entries.get(KEY)?.tracked.order.phase).toBe('active');
  });

  it('moves its order to the key of the id that the service gave it', () => {
    const { state, request } = asked();
    const own = next({ orderId: 'service-1', externalId: 'service-1' });
    receiveReply(state, request, reply(), 50);
    finishRead(state, request, own, at(50), at(60));
    expect([...state.entries.keys()]).toEqual([watchKey(own.order)]);
  });

  it('has the whole gateway pause when the reply asks for it, for half a minute at first', () => {
    const { state, request } = asked();
    const overloaded = reply({ httpStatus: 429, outcome: 'rate_limited', retryAfterMs: 86_400_000 });
    receiveReply(state, request, overloaded, 0);
    trackOrder(state, { order: order({ orderId: 'b' }), known: '' }, 'callback', at(0));
    expect(nextStep(state, 0)).toEqual({ waitMs: 30_000 });
  });

  it('opens a circuit when it is the third order in a row that is refused', () => {
    const state = createGatewayState(policy, () => true);
    const changes = ['a', 'b', 'c'].map((orderId) => {
      trackOrder(state, { order: order({ orderId }), known: '' }, 'watch', at(0));
      const request = startRequest(state, watchKey(order({ orderId })), at(0));
      return receiveReply(state, request, reply({ httpStatus: 401, outcome: 'unauthorized' }), 0);
    });
    expect(changes).toEqual([false, false, true]);
    trackOrder(state, { order: order({ orderId: 'd' }), known: '' }, 'watch', at(0));
    expect(nextStep(state, 0)).toEqual({ waitMs: 30_000 });
    expect(startRequest(state, watchKey(order({ orderId: 'd' })), at(30_000)).cause).toBe('probe');
  });
});
