import { sleep } from '../../schemas/deadline.ts';
import type { WatchRef } from '../../schemas/watch.ts';
import type { Query } from '../../collector/orders/watch-memory.ts';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import { byPlace, placeText, resolutionOf, takeAgain, type KafkaTopics } from './from-kafka.ts';
import type { OfflinePipeline } from './offline-pipeline.ts';
import { readOpenRejects, readSetRight, wayOf, type OpenReject, type RejectFilter } from './open-rejects.ts';
import { leaveForNextRun, ordersOf } from './orders-of.ts';

/** Reads records at these places, hands them over by partition, and tells which are gone. */
export type ReadPlaces = (
  places: readonly { topic: string; partition: number; offset: number }[],
  handle: (records: readonly KafkaRecord[]) => Promise<void>,
) => Promise<{ gone: readonly { topic: string; partition: number; offset: number }[] }>;

/** Has the orders read now. `nobody`: no collector is there to do it. */
export type AskForReads = (
  orders: readonly WatchRef[],
) => Promise<'asked' | 'nobody' | { readonly refusal: string }>;

export interface RedriveOptions {
  readonly query: Query;
  readonly filter: RejectFilter;
  readonly pipeline: OfflinePipeline;
  /** null: no Kafka is configured. */
  readonly kafka: { readonly topics: KafkaTopics; readonly read: ReadPlaces } | null;
  readonly ask: AskForReads;
  /** Only say what would become of them. @default false */
  readonly dryRun?: boolean;
  /** How long orders that are read again are waited for. @default 30000 */
  readonly waitMs?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** What became of each open reject that was looked at. */
export interface RedriveReport {
  readonly found: number;
  /** Its record went in. */
  readonly stored: number;
  /** A later reply about its order had no such fault. */
  readonly readAgain: number;
  /** It would be rejected again: the fault is still there. */
  readonly stillRejected: number;
  /** Its order has been asked for and not been read without fault yet. */
  readonly waiting: number;
  /** Its record is no longer in Kafka. */
  readonly gone: number;
  /** Nothing tells how to try again, e.g. its topic is not configured. */
  readonly noWay: number;
  /** The first ones that stay, with why. */
  readonly left: readonly string[];
  /**
   * Why the running collector does not read orders for us, e.g. since it has not been started anew; else
   * null.
   */
  readonly refusal: string | null;
}

const SHOWN = 20;
const LOOK_AGAIN_MS = 500;

/**
 * Tries open rejects again after a fix. Records of Kafka are read from their coordinates and go through the
 * collector's own steps; for rejects of replies the order is read again. A reject that this sets right is
 * marked in the store, not removed.
 */
export async function redrive(options: RedriveOptions): Promise<RedriveReport> {
  const { query, pipeline, dryRun = false } = options;
  const { context } = pipeline;
  const rejects = await readOpenRejects(query, options.filter);
  const outcome = new Map<OpenReject, keyof Omit<RedriveReport, 'found' | 'left' | 'refusal'>>();
  let refusal: string | null = null;
  const settle = async (some: readonly OpenReject[], resolution: 'stored' | 'read_again'): Promise<void> => {
    for (const reject of some) outcome.set(reject, resolution === 'stored' ? 'stored' : 'readAgain');
    options.onProgress?.(outcome.size, rejects.length);
    if (some.length === 0 || dryRun) return;
    const now = context.clock.now();
    await context.write({ rejectResolutions: some.map((one) => resolutionOf(one, resolution, now)) }, {});
  };

  await fromKafka();
  await byReadingAgain();
  for (const reject of rejects) if (!outcome.has(reject)) outcome.set(reject, 'noWay');
  return report();

  async function ask(orders: readonly WatchRef[]): Promise<'asked' | 'nobody' | 'refused'> {
    const answer = await options.ask(orders);
    if (typeof answer === 'string') return answer;
    refusal = answer.refusal;
    return 'refused';
  }

  async function fromKafka(): Promise<void> {
    const { kafka } = options;
    const isOurs = ({ topic }: OpenReject) =>
      kafka !== null && (topic === kafka.topics.watch || kafka.topics.callbacks.includes(topic));
    const places = byPlace(rejects.filter((reject) => wayOf(reject) === 'kafka' && isOurs(reject)));
    if (kafka === null || places.size === 0) return;
    const wanted = [...places.values()].flatMap(([reject]) =>
      reject?.partition == null || reject.offset === null
        ? []
        : [{ topic: reject.topic, partition: reject.partition, offset: reject.offset }],
    );
    const { gone } = await kafka.read(wanted, async (records) => {
      const right = await takeAgain(records, places, kafka.topics, pipeline);
      for (const record of records) {
        for (const reject of places.get(placeText(record)) ?? []) outcome.set(reject, 'stillRejected');
      }
      await settle(right, 'stored');
    });
    for (const place of gone)
      for (const reject of places.get(placeText(place)) ?? []) outcome.set(reject, 'gone');
    // The steps have stored that these are to be read. A collector that runs learns it here, or at its next
    // start.
    const orders = pipeline.tracked();
    if (orders.length > 0 && !dryRun) await ask(orders);
  }

  async function byReadingAgain(): Promise<void> {
    let open = rejects.filter(
      (reject) => wayOf(reject) === 'read_again' && context.gateways.has(reject.gateway),
    );
    const look = async (): Promise<void> => {
      const right = await readSetRight(query, open);
      await settle(
        open.filter((reject) => right.has(reject.reject_id)),
        'read_again',
      );
      open = open.filter((reject) => !right.has(reject.reject_id));
    };
    await look();
    for (const reject of open) outcome.set(reject, 'waiting');
    if (open.length === 0 || dryRun) return;
    const orders = await ordersOf(open, context.memory);
    const answer = await ask(orders);
    if (answer === 'nobody') return leaveForNextRun(orders, context);
    if (answer === 'refused') return;
    const deadline = context.clock.monotonicMs() + (options.waitMs ?? 30_000);
    while (open.length > 0 && context.clock.monotonicMs() < deadline) {
      await sleep(LOOK_AGAIN_MS);
      await look();
    }
  }

  function report(): RedriveReport {
    const count = (what: string) => [...outcome.values()].filter((one) => one === what).length;
    const left = rejects
      .map((reject) => [reject, outcome.get(reject) ?? 'noWay'] as const)
      .filter(([, what]) => what !== 'stored' && what !== 'readAgain');
    return {
      found: rejects.length,
      stored: count('stored'),
      readAgain: count('readAgain'),
      stillRejected: count('stillRejected'),
      waiting: count('waiting'),
      gone: count('gone'),
      noWay: count('noWay'),
      left: left
        .slice(0, SHOWN)
        .map(([reject, what]) => `${whereOf(reject)}: ${reject.reason}, ${WHY[what]}`),
      refusal,
    };
  }
}

const WHY: Readonly<Record<string, string>> = {
  stillRejected: 'would be rejected again',
  waiting: 'its order has not been read without this fault yet',
  gone: 'its record is no longer in Kafka',
  noWay: 'there is no way to try it again with this configuration',
};

function whereOf(reject: OpenReject): string {
  if (reject.topic !== '') return placeText(reject);
  return reject.order_id === null
    ? reject.reject_id
    : `${reject.gateway}|${reject.order_type}|${reject.order_id}`;
}
