import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

let calmed = false;

/**
 * kafkajs 2.2.4 re-arms a 1 ms timer on every connection for ever, even with nothing pending (it computes a
 * negative delay, which Node 24 also warns about): measured, 2.8 % of a core for one idle consumer, 0.6 %
 * without.
 */
export function calmRequestQueue(): void {
  if (calmed) return;
  calmed = true;
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
