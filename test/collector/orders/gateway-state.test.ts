import { describe, expect, it } from 'vitest';
import {
  createGatewayState,
  gatewayStatus,
  nudgeOrder,
  releaseOrders,
  resumeOrder,
  trackOrder,
} from '../../../collector/orders/gateway-state.ts';
import { nextStep, startRequest } from '../../../collector/orders/status-requests.ts';
import { pollConfigSchema } from '../../../schemas/config.ts';
import { watchKey, type WatchedOrder } from '../../../schemas/watch.ts';
import { SECOND, T0, watchedOrder } from '../../support/watched-order.ts';

const policy = pollConfigSchema.parse({ jitter: 0, concurrency: 2, mergeCallbacksMs: 1_000 });
const at = (nowMs: number) => ({ now: T0 + nowMs * 1000, nowMs });
const empty = (owns: (order: WatchedOrder) => boolean = () => true) => createGatewayState(policy, owns);
const order = (orderId: string, more: Partial<WatchedOrder> = {}) => watchedOrder({ orderId, ...more });
const key = (orderId: string) => watchKey(order(orderId));
const track = (
  state: ReturnType<typeof empty>,
  orderId: string,
  cause: 'watch' | 'callback',
  nowMs: number,
) => trackOrder(state, { order: order(orderId), known: '' }, cause, at(nowMs));

describe('the state of a gateway', () => {
  it('says to wait until an order is due, and then to start it', () => {
    const state = empty();
    resumeOrder(state, { order: order('a', { nextPollAt: T0 + 40 * SECOND }), known: '' }, at(0));
    expect(nextStep(state, 0)).toEqual({ waitMs: 40_000 });
    expect(nextStep(state, 40_000)).toEqual({ start: key('a') });
  });

  it('has nothing to do without orders, and none beyond what may be in flight', () => {
    const state = empty();
    expect(nextStep(state, 0)).toBeNull();
    for (const id of ['a', 'b', 'c']) track(state, id, 'watch', 0);
    startRequest(state, key('a'), at(0));
    startRequest(state, key('b'), at(0));
    expect(nextStep(state, 0)).toBeNull();
    expect(gatewayStatus(state, at(0))).toMatchObject({ watched: 3, due: 1, inFlight: 2, requests: 2 });
  });

  it('puts an order that a callback names before those that are merely due', () => {
    const state = empty();
    track(state, 'early', 'watch', 0);
    track(state, 'named', 'callback', 10);
    expect(nextStep(state, 10)).toEqual({ start: key('named') });
  });

  it('knows an order once, with all that was said about it', () => {
    const state = empty();
    track(state, 'a', 'watch', 0);
    trackOrder(state, { order: order('a', { channel: 'p2p' }), known: '' }, 'watch', at(5));
    expect(state.entries.size).toBe(1);
    expect(state.entries.get(key('a'))?.tracked.order.channel).toBe('p2p');
  });

  it('brings an order forward when it is asked for, and knows no order that is not tracked', () => {
    const state = empty();
    resumeOrder(state, { order: order('a', { nextPollAt: T0 + 40 * SECOND }), known: '' }, at(0));
    expect(nudgeOrder(state, key('a'), at(100))).toBe(true);
    expect(nextStep(state, 100)).toEqual({ start: key('a') });
    expect(nudgeOrder(state, key('b'), at(100))).toBe(false);
  });

  it('forgets on release what others own, but not what a callback asked for or what is in flight', () => {
    const state = empty(({ orderId }) => orderId === 'ours');
    for (const id of ['ours', 'theirs', 'in-flight']) track(state, id, 'watch', 0);
    track(state, 'urgent', 'callback', 0);
    startRequest(state, key('urgent'), at(0));
    track(state, 'named', 'callback', 0);
    releaseOrders(state);
    expect([...state.entries.values()].map(({ tracked }) => tracked.order.orderId).toSorted()).toEqual([
      'named',
      'ours',
      'urgent',
    ]);
  });
});
