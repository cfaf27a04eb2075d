import type { SeedCallback, SeedItem, SeedOrder } from '../support/seed-store.ts';

/** Traffic for rules: each gateway is one scenario, so that one evaluation covers all of them. */
export const MINUTE = 60_000;
/** The evaluation instant. Fixed: rules have no other clock. */
export const NOW = Date.parse('2026-03-02T12:00:00Z');

interface TrafficOptions {
  readonly gateway: string;
  readonly orders: number;
  /** Epoch milliseconds of the first order. */
  readonly from: number;
  readonly to: number;
  /** Codes of the nth order, a second apart. */
  readonly codes: (n: number) => readonly string[];
  /** Delay between an item and its first arrival. @default 1,000 */
  readonly observedAfterMs?: number;
}

export const PAID = ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.1.3.00', '5.1.3.00', '6.1.1.00'];
export const TIMED_OUT = ['1.0.0.00', '1.1.1.00', '2.2.4.11'];
export const REFUSED = ['1.0.0.00', '1.1.1.00', '2.2.4.21'];
export const BAD_PROVIDER_SIGNATURE = ['1.0.0.00', '2.1.1.00', '5.2.2.16', '4.1.3.00'];

export function traffic({
  gateway,
  orders,
  from,
  to,
  codes,
  observedAfterMs = 1000,
}: TrafficOptions): SeedOrder[] {
  return Array.from({ length: orders }, (_, n) => {
    const start = from + Math.floor(((to - from) * n) / orders);
    const items = codes(n).map((action, index): SeedItem => {
      const at = start + index * 1000;
      return { at, action, observedAt: at + observedAfterMs };
    });
    return { gateway, externalId: `${gateway}-${from}-${n}`, channel: n % 2 === 0 ? 'card' : 'p2p', items };
  });
}

export const callbacks = (
  gateway: string,
  count: number,
  verdict: SeedCallback['verdict'],
  at: number,
): SeedCallback[] =>
  Array.from({ length: count }, (_, n) => ({
    gateway,
    externalId: `${gateway}-${verdict}-${n}`,
    receivedAt: at + n * 1000,
    verdict,
  }));
