import type { Clock } from '../../schemas/clock.ts';
import { sleep } from '../../schemas/deadline.ts';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import { ID_KINDS, watchKey, type WatchMessage, type WatchRef } from '../../schemas/watch.ts';
import type { IngestPort } from '../ingest-port.ts';
import {
  placeText,
  readOpenRejects,
  readSetRight,
  wayOf,
  type OpenReject,
  type Query,
  type RejectFilter,
} from './open-rejects.ts';
import { reportOutcomes, type Outcome, type RedriveReport } from './outcomes.ts';

/** Where one record lies in Kafka. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** Reads records at these places, hands them over by partition, and reports which are gone. */
export type ReadPlaces = (
  places: readonly RecordPlace[],
  handle: (records: readonly KafkaRecord[]) => Promise<void>,
) => Promise<{ readonly gone: readonly RecordPlace[] }>;

/** Asks the running collector to read orders now. `no_answer`: none is running. */
export type AskForReads = (
  orders: readonly WatchMessage[],
) => Promise<'asked' | 'no_answer' | { readonly refusal: string }>;

export interface RedriveOptions {
  readonly query: Query;
  readonly filter: RejectFilter;
  readonly ingest: IngestPort;
  /** null: no Kafka is configured. */
  readonly readPlaces: ReadPlaces | null;
  readonly ask: AskForReads;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Only say what would become of them. @default false */
  readonly dryRun?: boolean;
  /** How long orders that are read again are waited for. @default 30000 */
  readonly waitMs?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

const LOOK_AGAIN_MS = 500;

/** One run: what was found, and what became of it so far. */
interface Run {
  readonly options: RedriveOptions;
  readonly rejects: readonly OpenReject[];
  readonly outcomes: Map<OpenReject, Outcome>;
  refusal: string | null;
}

/**
 * Tries open rejects again after a fix. Records of Kafka are read from their coordinates and go through the
 * collector's own steps; for rejects of replies the order is read again. A reject that this sets right is
 * marked in the store, not removed.
 */
export async function redrive(options: RedriveOptions): Promise<RedriveReport> {
  const rejects = await readOpenRejects(options.query, options.filter);
  const run: Run = { options, rejects, outcomes: new Map(), refusal: null };
  await redriveRecords(run);
  await redriveReplies(run);
  return reportOutcomes(rejects, run.outcomes, run.refusal);
}

/** Takes the records of rejects again, partition by partition. */
async function redriveRecords(run: Run): Promise<void> {
  const { options, outcomes } = run;
  const { ingest, readPlaces, dryRun = false } = options;
  const byPlace = Map.groupBy(
    run.rejects.filter((reject) => wayOf(reject) === 'kafka' && ingest.topics.has(reject.topic)),
    placeText,
  );
  if (readPlaces === null || byPlace.size === 0) return;
  const rejectsAt = (place: KafkaRecord | RecordPlace) => byPlace.get(placeText(place)) ?? [];
  // A callback was received when it was rejected.
  const rejectedAt = (record: KafkaRecord) => {
    const times = rejectsAt(record).map((reject) => reject.rejected_at);
    return times.length === 0 ? null : Math.min(...times);
  };
  const { gone } = await readPlaces([...byPlace.values()].flatMap(placeOf), async (records) => {
    const accepted = await ingest.takeRecords(records, rejectedAt);
    for (const reject of records.flatMap(rejectsAt)) outcomes.set(reject, 'stillRejected');
    const stored = records.flatMap((record, index) => (accepted[index] === true ? rejectsAt(record) : []));
    await settle(run, stored, 'stored');
  });
  for (const reject of gone.flatMap(rejectsAt)) outcomes.set(reject, 'gone');
  // The steps have stored that these are to be read. A running collector is asked now; else the next one
  // finds it at its start.
  const orders = ingest.ordersToRead();
  if (orders.length > 0 && !dryRun) await ask(run, orders);
}

function placeOf([reject]: readonly OpenReject[]): RecordPlace[] {
  if (reject === undefined || reject.partition === null || reject.offset === null) return [];
  return [{ topic: reject.topic, partition: reject.partition, offset: reject.offset }];
}

/** Has the orders of rejected replies read again, and waits for replies without the fault. */
async function redriveReplies(run: Run): Promise<void> {
  const { ingest, clock, dryRun = false, waitMs = 30_000 } = run.options;
  let open = await settleReplies(
    run,
    run.rejects.filter((reject) => wayOf(reject) === 'read_again' && ingest.gateways.has(reject.gateway)),
  );
  for (const reject of open) run.outcomes.set(reject, 'waiting');
  if (open.length === 0 || dryRun) return;
  const orders = await ordersOf(open, ingest);
  const answer = await ask(run, orders);
  // Without a collector that polls, the orders are due when one starts.
  if (answer === 'no_answer') await ingest.takeWatchRequests(orders.map(messageOf));
  if (answer !== 'asked') return;
  const deadline = clock.monotonicMs() + waitMs;
  while (open.length > 0 && clock.monotonicMs() < deadline) {
    await sleep(LOOK_AGAIN_MS);
    open = await settleReplies(run, open);
  }
}

/** Settles those that a later reply has set right; resolves with the others. */
async function settleReplies(run: Run, open: readonly OpenReject[]): Promise<readonly OpenReject[]> {
  const right = await readSetRight(run.options.query, open);
  const settled = open.filter((reject) => right.has(reject.reject_id));
  await settle(run, settled, 'readAgain');
  return open.filter((reject) => !right.has(reject.reject_id));
}

async function settle(
  run: Run,
  rejects: readonly OpenReject[],
  outcome: 'stored' | 'readAgain',
): Promise<void> {
  const { ingest, dryRun = false, onProgress } = run.options;
  for (const reject of rejects) run.outcomes.set(reject, outcome);
  onProgress?.(run.outcomes.size, run.rejects.length);
  if (rejects.length === 0 || dryRun) return;
  const resolution = outcome === 'stored' ? 'stored' : 'read_again';
  await ingest.resolveRejects(
    rejects.map(({ gateway, reason, reject_id }) => ({ gateway, reason, reject_id, resolution })),
  );
}

async function ask(run: Run, orders: readonly WatchRef[]): Promise<'asked' | 'no_answer' | 'refused'> {
  const answer = await run.options.ask(orders.map(messageOf));
  if (typeof answer === 'string') return answer;
  run.refusal = answer.refusal;
  return 'refused';
}

/**
 * Names the orders that these rejects of replies are about. A reject has an id and not its kind: the
 * watched orders show it.
 */
async function ordersOf(
  rejects: readonly OpenReject[],
  { findWatched }: Pick<IngestPort, 'findWatched'>,
): Promise<WatchRef[]> {
  const named = new Map<string, WatchRef[]>();
  for (const { gateway, order_type: orderType, order_id: orderId } of rejects) {
    if (orderType === null || orderId === null) continue;
    const refs = ID_KINDS.map((idKind) => ({ gateway, orderType, idKind, orderId }));
    named.set(`${gateway}|${orderType}|${orderId}`, refs);
  }
  const watched = await findWatched([...named.values()].flat());
  return [...named.values()].flatMap((refs) => {
    const known = refs.filter((ref) => watched.has(watchKey(ref)));
    return known.length > 0 ? known : refs.slice(0, 1);
  });
}

/** The message that asks for an order. */
function messageOf({ gateway, orderType, idKind, orderId }: WatchRef): WatchMessage {
  return {
    gateway,
    orderType,
    ...(idKind === 'external-id' ? { externalId: orderId } : { externalTransactionId: orderId }),
  };
}
