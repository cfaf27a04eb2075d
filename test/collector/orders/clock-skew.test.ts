import { describe, expect, it } from 'vitest';
import {
  clockSkewSeconds,
  createClockSkewTracker,
  noteDatedRead,
} from '../../../collector/orders/clock-skew.ts';
import { createOrders } from '../../../collector/orders/orders.ts';
import { createMemorySink } from '../../../collector/sinks/memory/sink.ts';
import { noInstruments } from '../../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema } from '../../../schemas/config.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { createMemoryWatchStore } from '../../support/memory-watch-store.ts';

const GATEWAY = 'acme-eu';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Codes of an order that is paid, seconds after its beginning. */
const LIFE = [
  ['1.1.1.00', 0],
  ['2.1.1.00', 1],
  ['3.0.1.00', 4],
  ['3.1.1.55', 30],
  ['4.1.3.00', 60],
] as const;

/** A gateway whose histories are dated by a clock that differs from ours by `offsetMs`. */
function gatewayWithClock(offsetMs: number) {
  const clock = createFakeClock();
  const sink = createMemorySink({ nowMicros: clock.now });
  const begunMs = new Map<string, number>();
  const nowMs = () => clock.now() / 1000;
  const away = { gateway: false };
  const gateway = gatewayConfigSchema.parse({
    name: GATEWAY,
    secureUrl: 'https://gateway.example',
    token: 'a-token',
    poll: { jitter: 0 },
  });
  const orders = createOrders({
    collectorId: 'c1',
    historyDays: 400,
    gateways: new Map([[gateway.name, gateway]]),
    clock,
    stamp: clock.now,
    reader: () => ({
      async read({ orderId: externalId }) {
        const begun = begunMs.get(externalId) ?? nowMs();
        const happened = LIFE.filter(([, seconds]) => begun + seconds * 1000 <= nowMs());
        const orderHistory = happened.map(([action, seconds]) => ({
          action,
          time: new Date(begun + seconds * 1000 + offsetMs).toISOString(),
        }));
        const orderStatus = happened.length === LIFE.length ? 'Success' : 'Processing';
        const body = JSON.stringify({ externalId, orderStatus, orderHistory });
        return away.gateway
          ? {
              httpStatus: 503,
              outcome: 'unknown',
              errorType: 'http_503',
              body: null,
              bodyBytes: 0,
              retryAfterMs: null,
            }
          : {
              httpStatus: 200,
              outcome: 'ok',
              errorType: '',
              body,
              bodyBytes: body.length,
              retryAfterMs: null,
            };
      },
      close: async () => undefined,
    }),
    watchStore: createMemoryWatchStore(sink),
    write: (bundle, provenance) => sink.write(bundle, provenance),
    checkBackpressure: () => undefined,
    isShared: false,
    instruments: noInstruments(),
    log: { debug: () => undefined, warn: () => undefined, error: () => undefined },
    signal: new AbortController().signal,
  });
  return {
    clock,
    away,
    start: () =>
      orders.start({ fingerprint, assignment: () => null, tenure: () => null, produceHints: null }),
    /** Begins orders `agoMs` ago, and has them watched from now on. */
    async begin(count: number, agoMs = 0) {
      for (let index = 0; index < count; index += 1) {
        const externalId = `order-${begunMs.size}`;
        begunMs.set(externalId, nowMs() - agoMs);
        const message = { gateway: GATEWAY, orderType: 'Deposit' as const, externalId };
        await orders.takeWatchRequests(
          [{ message, problem: null, source: 'http', deliveryId: externalId, coordinates: null }],
          {},
        );
      }
    },
    skew: () => orders.status().get(GATEWAY)?.clockSkewSeconds,
  };
}

describe("the difference between the gateway's clock and ours", () => {
  it.each([
    [8, 28_800],
    [-8, -28_800],
    [-0.5, -1_800],
  ])('is seen within three minutes where its history is %d hours off', async (hours, seconds) => {
    const { clock, start, begin, skew } = gatewayWithClock(hours * HOUR_MS);
    await start();
    expect(skew()).toBeNull();
    await begin(6);
    await clock.advance(3 * MINUTE_MS);
    expect(Math.abs((skew() ?? 0) - seconds)).toBeLessThan(60);
  });

  it('is none where the clocks agree, for orders that are old, and after hours without an answer', async () => {
    const { clock, away, start, begin, skew } = gatewayWithClock(0);
    await start();
    await begin(6);
    await begin(6, 30 * HOUR_MS);
    await clock.advance(10_000);
    away.gateway = true;
    await clock.advance(8 * HOUR_MS);
    away.gateway = false;
    await clock.advance(20 * MINUTE_MS);
    expect(skew()).toBe(0);
  });

  it('is not known from fewer than five orders, and ends with a hundred that agree', () => {
    const tracker = createClockSkewTracker();
    const at = (order: number, aheadS: number) =>
      noteDatedRead(tracker, {
        order: `o${order}`,
        newestItemAt: (1000 + aheadS) * 1e6,
        observedAt: 1000e6,
        readBeforeAt: null,
      });
    for (let order = 0; order < 4; order += 1) at(order, 60);
    // The same order again is no other.
    at(0, 60);
    expect(clockSkewSeconds(tracker, 1000e6)).toBe(0);
    at(4, 70);
    expect(clockSkewSeconds(tracker, 1000e6)).toBe(60);
    expect(clockSkewSeconds(tracker, 1000e6 + 4 * 3600e6)).toBeNull();
    for (let order = 5; order < 105; order += 1) at(order, -1);
    expect(clockSkewSeconds(tracker, 1000e6)).toBe(0);
  });
});
