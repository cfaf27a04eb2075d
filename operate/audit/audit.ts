import { sleep } from '../../schemas/deadline.ts';
import { TABLES } from '../../schemas/names.ts';
import { auditCommitted, type CommittedPort } from './committed-records.ts';
import { auditContent, auditReasons, auditViews } from './checks.ts';
import { auditHistoryItems } from './history-items.ts';
import { auditKafkaRecords } from './kafka-records.ts';
import { readBounds } from './ledger.ts';
import { auditPerBatch, INTAKE, REPLIES, WATCH_REQUESTS } from './per-batch.ts';
import { holds, type AuditReport, type Query } from './report.ts';

export interface AuditOptions {
  readonly query: Query;
  readonly nowMicros: () => number;
  /**
   * Only what was acknowledged since then, in microseconds since 1970. @default 0: all that retention has
   * left
   */
  readonly sinceMicros?: number;
  /**
   * What is being written shows for a moment as a difference where no ledger bounds it. A difference counts
   * only when it is still there after this pause, twice; 0 looks once. @default 2000
   */
  readonly pauseMs?: number;
  /** Null or missing: there is no Kafka to compare with. */
  readonly committed?: CommittedPort | null;
  /** Called with what is being looked at. */
  readonly onStep?: (step: string) => void;
}

const LOOKS = 3;
/** Rows are stored a little after the time that they carry. */
const UNDER_WAY_MICROS = 5_000_000;

/**
 * Checks the three identities of ingestion by queries alone: deliveries, replies and history items, accepted
 * = stored (distinct) + rejected. It reads only, needs no collector, and may run beside working ones.
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { query, nowMicros, sinceMicros = 0, pauseMs = 2000, committed = null, onStep } = options;
  const step = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    onStep?.(what);
    return run();
  };
  const again = async <T>(look: () => Promise<T>, isFine: (seen: T) => boolean): Promise<T> => {
    for (let left = pauseMs === 0 ? 1 : LOOKS; ; left--) {
      const seen = await look();
      if (isFine(seen) || left <= 1) return seen;
      await sleep(pauseMs);
    }
  };
  const bounds = await step('the ledger', () => readBounds(query));
  const since = await readWindow(query, nowMicros(), sinceMicros);
  const identities = [
    await step('Kafka records', () => auditKafkaRecords(query, bounds, since.deliveries)),
    await step('intake callbacks', () => auditPerBatch(query, INTAKE, bounds, since.deliveries)),
    await step('watch requests', () => auditPerBatch(query, WATCH_REQUESTS, bounds, since.deliveries)),
    await step('replies', () => auditPerBatch(query, REPLIES, bounds, since.replies)),
    await step('history items', () => again(() => auditHistoryItems(query, bounds, since), holds)),
  ];
  const checks = [
    await step('versions', () => auditContent(query)),
    await step('views', () =>
      again(
        () => auditViews(query, nowMicros() - UNDER_WAY_MICROS),
        (check) => check.violations === 0,
      ),
    ),
    await step('reasons', () => auditReasons(query)),
    ...(committed === null ? [] : [await step('the consumer group', () => auditCommitted(committed))]),
  ];
  return {
    ok: identities.every(holds) && checks.every((check) => check.violations === 0),
    since: { deliveries: iso(since.deliveries), replies: iso(since.replies), history: iso(since.history) },
    identities,
    checks,
  };
}

function iso(micros: number): string {
  return new Date(micros / 1000).toISOString();
}

/** From when on everything is still there, in microseconds since 1970. */
interface AuditWindow {
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
  history: [TABLES.historyEvents, TABLES.orders, TABLES.rejects],
} as const;

/** What retention has left whole, as the store's own tables say, and what was asked for. */
async function readWindow(query: Query, nowMicros: number, sinceMicros: number): Promise<AuditWindow> {
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
