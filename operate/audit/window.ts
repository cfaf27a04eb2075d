import { TABLES } from '../../schemas/names.ts';
import type { Query } from './report.ts';

/** From when on everything is still there, in microseconds since 1970. */
export interface AuditWindow {
  readonly deliveries: number;
  readonly replies: number;
  readonly history: number;
}

const DAY_MICROS = 86_400 * 1_000_000;

/** Rows may be older than their batch's acknowledgement, and merges let rows go when they like. */
const MARGIN_DAYS = 2;

/** What each identity is made of: it can be checked as far back as the one that is kept shortest. */
const MADE_OF = {
  deliveries: [TABLES.callbackDeliveries, TABLES.watchRequests, TABLES.rejects, TABLES.ingestLedger],
  replies: [TABLES.polls, TABLES.rejects, TABLES.ingestLedger],
  history: [TABLES.historyEvents, 'orders_store', TABLES.rejects],
} as const;

/** What retention has left whole, as the store's own tables say, and what was asked for. */
export async function readWindow(query: Query, nowMicros: number, sinceMicros: number): Promise<AuditWindow> {
  const tables = await query<{ name: string; definition: string }>(
    'SELECT name, engine_full AS definition FROM system.tables WHERE database = currentDatabase()',
  );
  const days = new Map(
    tables.flatMap(({ name, definition }) => {
      const [, count] = /\bTTL .*toIntervalDay\((\d+)\)/.exec(definition) ?? [];
      return count === undefined ? [] : [[name, Number(count)] as const];
    }),
  );
  const from = (names: readonly string[]) => {
    const shortest = Math.min(...names.map((name) => days.get(name) ?? Infinity));
    const kept = shortest > 2 * MARGIN_DAYS ? shortest - MARGIN_DAYS : shortest / 2;
    const retained = Number.isFinite(kept) ? nowMicros - kept * DAY_MICROS : 0;
    return Math.round(Math.max(retained, sinceMicros, 0));
  };
  return {
    deliveries: from(MADE_OF.deliveries),
    replies: from(MADE_OF.replies),
    history: from(MADE_OF.history),
  };
}
