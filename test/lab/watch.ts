import type { Incident } from './incidents.ts';
import { PATHS, type PollEnd, pollIndex } from './paths.ts';
import type { Random } from './random.ts';
import type { Months } from './months.ts';

/** Status requests of ours for each order, on average. */
const POLLS_AN_ORDER = 6;
const POLL_TIMEOUTS = 0.003;

/** Our own side of a minute: status requests, the collector's report, and how far it sees. */
export function createWatch(months: Months, random: Random) {
  const clock = clockWatch();
  const polled = (minute: number, end: PollEnd, count: number): void => {
    const counts = months.orders[0]?.[pollIndex(end)];
    if (counts !== undefined) counts[minute] = count;
  };
  return {
    minute(
      minute: number,
      incident: Incident | undefined,
      { total, ahead }: { readonly total: number; readonly ahead: number },
    ): void {
      const effect = incident?.kind.effect;
      const sent = Math.min(60_000, random.poisson(total * POLLS_AN_ORDER));
      const blind = effect?.type === 'blind' || effect?.type === 'silent';
      months.clockSkew[minute] = clock(total, ahead);
      months.seenUntil[minute] = blind ? (incident?.start ?? 0) : minute + 1;
      months.reporting[minute] = Number(effect?.type !== 'silent');
      months.circuits[minute] = Number(effect?.type === 'blind' && effect.polls === 'unauthorized');
      months.lag[minute] = effect?.type === 'lag' ? 50_000 : 0;
      months.rejects[minute] =
        effect?.type === 'rejects' ? random.poisson(5) : Number(random.next() < 0.000_05);
      if (effect?.type === 'silent') return;
      // Who gets no answer asks less often.
      if (effect?.type === 'blind') return polled(minute, effect.polls, Math.min(sent, 60));
      const timeouts = Math.min(sent, random.poisson(sent * POLL_TIMEOUTS));
      polled(minute, 'timeout', timeouts);
      polled(minute, 'ok', sent - timeouts);
    },
    /** No collector is there; it sees as far as it did before. */
    off(minute: number, since: number): void {
      months.seenUntil[minute] = since;
      months.reporting[minute] = 0;
    },
  };
}

const AHEAD_SECONDS = PATHS.find(({ aheadSeconds = 0 }) => aheadSeconds > 0)?.aheadSeconds ?? 0;

/** How far the newest hundred orders of at most three hours are dated ahead, where five of them are. */
function clockWatch(): (orders: number, ahead: number) => number {
  const newest: { readonly orders: number; readonly ahead: number }[] = [];
  return (orders, ahead) => {
    newest.unshift({ orders, ahead });
    newest.length = Math.min(newest.length, 180);
    let [all, some] = [0, 0];
    for (const minute of newest) {
      if (all >= 100) break;
      all += minute.orders;
      some += minute.ahead;
    }
    return (some * 100) / Math.max(100, all) >= 5 ? AHEAD_SECONDS : 0;
  };
}
