import type { Seed, SeedCallback, SeedOrder } from '../support/seed-store.ts';
import { DELAYS } from './draw.ts';
import type { Segment } from './gateway.ts';
import type { Months } from './months.ts';
import { type Path, PATHS, POLL_ENDS, type PollEnd, pollIndex } from './paths.ts';
import { EPOCH_MS } from './seasons.ts';

/** The instant at which minute `minute` begins. */
export const msOf = (minute: number): number => EPOCH_MS + minute * 60_000;

/** When the rules are evaluated about what was before `minute`: half a minute later, for the lag. */
export const evaluationOf = (minute: number): Date => new Date(msOf(minute) + 30_000);

const CALLBACK_SECOND = 46;
const POLL_SECOND = 30;

interface Where {
  readonly gateway: string;
  readonly externalId: string;
  readonly minute: number;
  /** @default a deposit of no channel and currency */
  readonly segment?: Pick<Segment, 'orderType' | 'channel' | 'currency'>;
  /** Minutes by which its items become known late. @default 0: three seconds after each item */
  readonly lateMinutes?: number;
  /** Nobody looked before this minute. @default 0 */
  readonly knownFrom?: number;
}

/** One order of a path as rows: all of it lies in its minute. */
export function orderOf(path: Path, where: Where): { order: SeedOrder; callback: SeedCallback | null } {
  const { gateway, externalId, minute, segment, lateMinutes = 0, knownFrom = 0 } = where;
  const { orderType = 'Deposit', channel = '', currency = '' } = segment ?? {};
  const knownAt = msOf(Math.max(lateMinutes === 0 ? 0 : minute + 1 + lateMinutes, knownFrom)) + 10_000;
  const aheadMs = (path.aheadSeconds ?? 0) * 1000;
  const items = path.codes.map((action, index) => {
    const at = msOf(minute) + 2000 + index * 4000;
    return { at, action, observedAt: Math.max(at + (aheadMs > 0 ? -aheadMs : 3000), knownAt) };
  });
  const { callback: verdict } = path;
  const receivedAt = msOf(minute) + CALLBACK_SECOND * 1000;
  const content = externalId;
  const id = { gateway, externalId, orderType };
  const callback = verdict === undefined ? null : { ...id, receivedAt, verdict, content };
  return { order: { ...id, channel, currency, items }, callback };
}

/** One order that we polled once. */
export function pollOf(end: PollEnd, where: Where): NonNullable<Seed['polls']>[number] {
  const { gateway, externalId, minute } = where;
  const outcome = end === 'timeout' ? 'unknown' : end;
  return {
    gateway,
    orderId: externalId,
    startedAt: msOf(minute) + POLL_SECOND * 1000,
    outcome,
    durationMs: 40,
  };
}

/** All that happened in some minutes as rows. */
export function rowsOf(months: Months, from: number, to: number, gateway: string): Seed {
  const orders: SeedOrder[] = [];
  const callbacks: SeedCallback[] = [];
  const polls: NonNullable<Seed['polls']>[number][] = [];
  const rejects: NonNullable<Seed['rejects']>[number][] = [];
  for (let minute = Math.max(0, from); minute < to; minute++) {
    for (const [index, segment] of months.gateway.segments.entries())
      for (const [delay, { minutes: lateMinutes }] of DELAYS.entries())
        for (const place of segment.paths) {
          const path = PATHS[place] as Path;
          const count = months.segments[index]?.[delay]?.[place]?.[minute] ?? 0;
          for (let n = 0; n < count; n++) {
            const externalId = `${minute}-${delay}-${index}-${place}-${n}`;
            const knownFrom = firstSight(months, lateMinutes === 0 ? minute + 1 : minute + 1 + lateMinutes);
            const made = orderOf(path, { gateway, externalId, minute, segment, lateMinutes, knownFrom });
            orders.push(made.order);
            if (made.callback !== null) callbacks.push(made.callback);
          }
        }
    for (const end of POLL_ENDS)
      for (let n = months.orders[0]?.[pollIndex(end)]?.[minute] ?? 0; n > 0; n--)
        polls.push(pollOf(end, { gateway, externalId: `${minute}-${end}-${n}`, minute }));
    for (let n = months.rejects[minute] ?? 0; n > 0; n--)
      rejects.push({ gateway, reason: 'reply_malformed', rejectedAt: msOf(minute) + POLL_SECOND * 1000 });
  }
  return { orders, callbacks, polls, rejects, ...reportsOf(months, from, to, gateway) };
}

/**
 * The minute at which something can be known that is there from minute `from` on: later while we are blind.
 * 0: at once.
 */
function firstSight(months: Months, from: number): number {
  let minute = from;
  while (minute < months.minutes && (months.seenUntil[minute - 1] ?? 0) < minute) minute++;
  return minute === from ? 0 : minute;
}

/** The collector's reports: every minute at its quarter, about how far it sees. */
function reportsOf(
  months: Months,
  from: number,
  to: number,
  gateway: string,
): Required<Pick<Seed, 'gatewayStatus' | 'collectors'>> {
  const gatewayStatus: NonNullable<Seed['gatewayStatus']>[number][] = [];
  const collectors: NonNullable<Seed['collectors']>[number][] = [];
  for (let minute = Math.max(1, from); minute < to; minute++) {
    if (months.reporting[minute - 1] === 0) continue;
    const reportedAt = msOf(minute) + 15_000;
    const watermarkAt = msOf(months.seenUntil[minute - 1] ?? minute);
    const circuitsOpen = months.circuits[minute - 1] ?? 0;
    const clockSkewSeconds = months.clockSkew[minute - 1] ?? 0;
    gatewayStatus.push({ gateway, reportedAt, watermarkAt, circuitsOpen, clockSkewSeconds });
    collectors.push({ collectorId: 'collector-1', reportedAt, consumerLag: months.lag[minute - 1] ?? 0 });
  }
  return { gatewayStatus, collectors };
}
