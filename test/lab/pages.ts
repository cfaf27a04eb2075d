/**
 * Grafana's state machine over a whole year of evaluations at once: the same as `advance`, on flat
 * arrays.
 */
export interface Condition {
  /** Of each evaluation: 1 when the condition holds. */
  readonly holds: Uint8Array;
  /** Minutes between evaluations; evaluation `i` is at minute `i * intervalMinutes`. */
  readonly intervalMinutes: number;
  readonly pendingMinutes: number;
  readonly keepFiringMinutes: number;
}

export interface Page {
  /** Minutes. When someone was notified. */
  readonly fired: number;
  /** Null: still firing at the end. */
  readonly resolved: number | null;
}

/** All pages in order. */
export function pagesOf({ holds, intervalMinutes, pendingMinutes, keepFiringMinutes }: Condition): Page[] {
  const pages: Page[] = [];
  let pendingSince = -1;
  let fired = -1;
  let quietSince = -1;
  for (let index = 0; index < holds.length; index++) {
    const minute = index * intervalMinutes;
    if (holds[index] === 1) {
      quietSince = -1;
      if (fired !== -1) continue;
      if (pendingSince === -1) pendingSince = minute;
      // Without `for` it fires at once; with it, at a later evaluation.
      if (pendingMinutes === 0 || (minute > pendingSince && minute - pendingSince >= pendingMinutes))
        fired = minute;
      continue;
    }
    pendingSince = -1;
    if (fired === -1) continue;
    if (quietSince === -1) quietSince = minute;
    if (keepFiringMinutes > 0 && (minute === quietSince || minute - quietSince < keepFiringMinutes)) continue;
    pages.push({ fired, resolved: minute });
    fired = -1;
    quietSince = -1;
  }
  if (fired !== -1) pages.push({ fired, resolved: null });
  return pages;
}
