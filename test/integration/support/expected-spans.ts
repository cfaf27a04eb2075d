import { createHash } from 'node:crypto';
import type { OrderTruth } from '../../../sandbox/truth.ts';

/** The ids of traces and spans, computed here on their own: tests must not ask the code under test. */

const digest = (text: string, bytes: number) =>
  createHash('sha256').update(text, 'utf8').digest().subarray(0, bytes).toString('hex');

export const traceIdOf = (order: string): string => digest(order, 16);
export const rootSpanIdOf = (order: string): string => digest(`${order}|root`, 8);

export interface ExpectedItem {
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ` */
  readonly time: string;
  readonly action: string;
  /** How many items before it in the list have the same time and action. */
  readonly occurrence: number;
  readonly spanId: string;
}

export const orderTextOf = (gateway: string, order: OrderTruth): string =>
  `${gateway}|${order.orderType}|${order.externalId}`;

/** The whole history of an order, as rows and spans must show it. */
export function expectedItems(gateway: string, order: OrderTruth): ExpectedItem[] {
  const seen = new Map<string, number>();
  return order.items.map(({ time: text, action }) => {
    const time = withMicroseconds(text);
    const occurrence = seen.get(`${time}|${action}`) ?? 0;
    seen.set(`${time}|${action}`, occurrence + 1);
    const spanId = digest(`${orderTextOf(gateway, order)}|${time}|${action}|${occurrence}`, 8);
    return { time, action, occurrence, spanId };
  });
}

/** The sandbox writes UTC with three or six decimals. */
function withMicroseconds(text: string): string {
  const found = /^(.{19})\.(\d{3,6})Z$/.exec(text);
  if (found === null) throw new Error(`not a time of the sandbox: ${text}`);
  return `${found[1]}.${found[2]?.padEnd(6, '0')}Z`;
}
