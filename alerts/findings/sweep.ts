import { clocksSql, type ClocksRow, endsOf, readClocks, settingOf, type Clocks } from '../count/clocks.ts';
import { view } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { JOBS } from '../../schemas/names.ts';
import { doneByTime, noteDoneByTime } from '../../store/job-progress.ts';
import { ARRIVALS } from '../count/tables.ts';
import { factFindings, storeFindings, vanishedFindings } from './finding-rows.ts';
import type { JudgedTypes } from './kinds.ts';
import { firstSeenMoves, learnMoves } from './moves.ts';
import { rewrittenHistories, unknownOrders } from './poll-findings.ts';
import { replayedCallbacks } from './replays.ts';
import { countOrders, ofGateway, oldReach, type SweepScope, VERIFIED } from './sweep-scope.ts';

export interface FindingsOptions {
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly command: (sql: string) => Promise<void>;
}

/** Compares the sources of orders, and stores what contradicts. */
export interface Findings {
  /**
   * Judges the orders about which something became known since the last time, a stretch at a time. True:
   * there is more.
   *
   * @param asOfMs the instant of knowledge; a gateway is judged up to where its picture is complete by then
   */
  readonly sweep: (asOfMs: number) => Promise<boolean>;
}

const SECOND: EpochMicros = 1_000_000;
/** Rows are stored this long after the instants in them at most; what was judged already is judged again. */
const OVERLAP = 120 * SECOND;
/** One stretch. */
const STEP = 900 * SECOND;
/**
 * The least to be compared at once: planning the statements costs about a second of processor time, however
 * few orders there are, and late items are given a quarter of an hour anyway.
 */
const EVERY = 300 * SECOND;
/** How far back the first comparison of a gateway begins, and one after a long rest. */
const FIRST = 3_600 * SECOND;
const LONGEST = 86_400 * SECOND;

/** The rule that knows which callbacks a gateway sends, by the state that its label names. */
const CALLBACK_RULE = 'GatewatchMerchantCallbackMissing';
const STATUS_OF_STATE = { SUCCESS: 'Success', FAILED: 'Failed' } as const;

export function createFindings({ query, command }: FindingsOptions): Findings {
  let clocks: Clocks = readClocks({ known: [], configured: [] }, {});

  async function judge(stretch: Omit<SweepScope, 'hasOld' | 'hasAged'>): Promise<void> {
    const [row] = await query<{ touched: number; old: number; aged: number }>(countOrders(stretch));
    const hasSome = (count: number | undefined): boolean => Number(count ?? 0) > 0;
    const scope = { ...stretch, hasOld: hasSome(row?.old), hasAged: hasSome(row?.aged) };
    const store = (select: string): Promise<void> => command(storeFindings(scope.gateway, scope.now, select));
    if (Number(row?.touched ?? 0) > 0) {
      const types = await typesOf(scope, clocks, query);
      await store(factFindings(scope, types));
      await store(vanishedFindings(scope, types));
      if (scope.hasAged) await store(replayedCallbacks(scope));
      await command(learnMoves(scope));
      await store(firstSeenMoves(scope));
    }
    await store(rewrittenHistories(scope));
    await store(unknownOrders(scope));
    await command(noteDoneByTime(JOBS.findings, scope.gateway, scope.to));
  }

  return {
    async sweep(asOfMs) {
      const asOf = asOfMs / 1000;
      const [row] = await query<ClocksRow>(clocksSql(asOf));
      clocks = readClocks(row ?? { known: [], configured: [] }, {});
      const done = await doneByTime(query, JOBS.findings);
      let isMore = false;
      for (const { gateway, end } of endsOf(clocks, new Map(), asOf)) {
        const stretch = nextStretch(done.get(gateway) ?? null, end * SECOND);
        if (stretch === null) continue;
        const now = end * SECOND;
        await judge({ gateway, ...stretch, now });
        isMore ||= stretch.to < now;
      }
      return isMore;
    },
  };
}

/** A gateway that sends no callbacks, or not to us, is not said to miss them. */
async function typesOf(
  scope: SweepScope,
  clocks: Clocks,
  query: FindingsOptions['query'],
): Promise<JudgedTypes> {
  const callbackTypes = Object.entries(STATUS_OF_STATE).flatMap(([state, status]) =>
    settingOf(clocks, CALLBACK_RULE, scope.gateway, `enabled/${state}`, 0) === 1 ? [status] : [],
  );
  const [first] = await query<{ at: number }>(
    `SELECT toUnixTimestamp64Micro(min(reported_at)) AS at FROM ${view('gatewayStatus')} WHERE ${ofGateway(scope)}`,
  );
  const watchedSince = Number(first?.at ?? 0);
  if (callbackTypes.length === 0) return { callbackTypes, watchedSince };
  const some = await query<object>(
    `SELECT 1 AS one FROM ${ARRIVALS} WHERE ${ofGateway(scope)} AND received_at >= ${oldReach(scope)} AND ${VERIFIED} LIMIT 1`,
  );
  return { callbackTypes: some.length === 0 ? [] : callbackTypes, watchedSince };
}

/** What is judged next, after it was judged up to an instant; null when nothing is. */
export function nextStretch(
  judgedTo: EpochMicros | null,
  now: EpochMicros,
): { readonly from: EpochMicros; readonly to: EpochMicros } | null {
  const done = Math.max(judgedTo ?? now - FIRST, now - LONGEST);
  if (done > now - EVERY) return null;
  return { from: done - OVERLAP, to: Math.min(now, done + STEP) };
}
