import type { Clock } from '../../schemas/clock.ts';
import type { KafkaRecord, Tenure } from '../../schemas/kafka.ts';
import type { PollerStatus } from '../../schemas/polling.ts';
import type { Problem } from '../../schemas/problem.ts';
import type { Provenance } from '../../schemas/sink.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { watchKey, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import type { CallbackDelivery } from '../decode/callback.ts';
import type { Fingerprint } from '../decode/fingerprint.ts';
import { isAssigned, type Assignment } from './assignment.ts';
import { handleCallbacks } from './callbacks.ts';
import type { OrdersContext } from './context.ts';
import { handleCallbackRecords, handleWatchRecords, type GatewayOfTopic } from './from-kafka-record.ts';
import { openAgain } from './hints.ts';
import { createHandOver, type ProduceHints } from './owner-hint.ts';
import { createOwnership } from './ownership.ts';
import { ALONE, createMemory } from './memory.ts';
import { createPoller, type PollerOptions } from './poller.ts';
import { applyReply } from './replies.ts';
import type { AskStatus, PollerEvent } from './poller-contract.ts';
import { createSignatureExaminer, type SignatureExaminer } from './signature-examiner.ts';
import { handleWatchRequests, judgeWatchRequests } from './watch-requests.ts';

export interface OrdersOptions extends Omit<
  OrdersContext,
  'tracked' | 'owns' | 'memory' | 'handOver' | 'examiner' | 'fingerprint' | 'clock' | 'random'
> {
  readonly clock: Clock;
  /** Rises with every call, see `createStamp`. */
  readonly stamp: Clock['now'];
  readonly reader: PollerOptions['reader'];
  /** Other collectors may work on the same store, and an assignment will come. */
  readonly isShared: boolean;
  /** Throws while nothing new can be taken in. */
  readonly checkBackpressure: () => void;
  readonly log: OrdersLog;
  /** Aborted when the collector stops; failures after that are not logged. */
  readonly signal: AbortSignal;
}

export interface OrdersLog {
  debug(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** What is known only once the store and the sources have been opened. */
export interface OrdersStart {
  /** Replaces text that fits no allowed pattern with a keyed hash. The key comes from the store. */
  readonly fingerprint: Fingerprint;
  /** The orders that this collector owns at present. */
  readonly assignment: () => Assignment;
  /** How sure that is; null while the group has not assigned any. */
  readonly tenure: () => Tenure | null;
  /** Writes hints for other collectors to the watch topic; null: there is none. */
  readonly produceHints: ProduceHints | null;
}

/**
 * Holds all state of orders: when each is read, what is known of it, who owns it. Every `take...` resolves
 * when all rows that follow from the input are stored, and may be called only after `start`.
 */
export interface Orders {
  /** Begins to read orders: those of earlier runs first. Returns how many these are. May be repeated. */
  start(known: OrdersStart): Promise<number>;
  /** Hints about orders from callbacks. */
  takeCallbacks(deliveries: readonly CallbackDelivery[], provenance: Provenance): Promise<void>;
  /**
   * The same from records of a callback topic.
   * @param taken called when all that is left is to wait for the store
   */
  takeCallbackRecords(
    records: readonly KafkaRecord[],
    gatewayOf: GatewayOfTopic,
    taken: () => void,
  ): Promise<void>;
  /** Requests to watch orders. Resolves with the problem of each, null when it was taken. */
  takeWatchRequests(
    requests: readonly WatchRequest[],
    provenance: Provenance,
  ): Promise<readonly (Problem | null)[]>;
  /** The same from records of the watch topic. */
  takeWatchRecords(records: readonly KafkaRecord[]): Promise<void>;
  /** What is wrong with each request, null where nothing is. Takes nothing in. */
  judgeWatchRequests(requests: readonly WatchRequest[]): readonly (Problem | null)[];
  /** Finds out why signatures do not verify. */
  readonly examiner: SignatureExaminer;
  /** Asks the gateway for an order's status now. Changes nothing that is known. */
  readonly ask: AskStatus;
  /** An order as it is read at present, by its watch key. */
  tracked(key: string): WatchedOrder | undefined;
  /** Has an order that was watched before read soon: somebody saw that there is news. */
  readSoon(order: WatchRef): Promise<void>;
  /** This collector owns other orders from now on. */
  assignmentChanged(): void;
  status(): ReadonlyMap<string, PollerStatus>;
  stop(): Promise<void>;
}

export function createOrders(options: OrdersOptions): Orders {
  const { gateways, stamp, watchStore, collectorId, isShared, log } = options;
  const clock = { ...options.clock, now: stamp };
  let assignment: OrdersStart['assignment'] = () => null;
  let tenure: OrdersStart['tenure'] = () => null;
  let started: OrdersContext | null = null;
  const owns = (order: WatchRef): boolean => isAssigned(assignment(), order);
  const memory = isShared
    ? createMemory(
        () => assignment(),
        () => tenure(),
      )
    : ALONE;
  const poller = createPoller({
    gateways: [...gateways.values()],
    reader: options.reader,
    clock,
    owns,
    onEvent: (gateway, event) => logPollerEvent(options, gateway, event),
  });
  const ownership = createOwnership({
    watchStore,
    tracked: poller,
    collectorId,
    clock: options.clock,
    assignment: () => assignment(),
    stamp: memory.stamp,
    isShared,
    onError: (error) => log.debug({ err: error }, 'the watched orders could not be looked through'),
  });

  const tracked = (key: string): WatchedOrder | undefined => poller.get(key);
  const examiner = createSignatureExaminer({ gateways, clock: options.clock, tracked });

  /** What steps work with that take something new in. */
  function intake(): OrdersContext {
    options.checkBackpressure();
    if (started === null) throw new TypeError('orders were used before they were started');
    return started;
  }

  return {
    start(known) {
      const { fingerprint, produceHints } = known;
      const context: OrdersContext = {
        ...options,
        clock,
        random: Math.random,
        tracked: poller,
        owns,
        memory,
        handOver: produceHints === null ? null : createHandOver(produceHints),
        examiner,
        fingerprint,
      };
      assignment = known.assignment;
      tenure = known.tenure;
      started = context;
      poller.start((reply) => applyReply(reply, context));
      return ownership.start();
    },
    takeCallbacks: async (deliveries, provenance) => handleCallbacks(deliveries, intake(), provenance),
    takeCallbackRecords: async (records, gatewayOf, taken) =>
      handleCallbackRecords(records, gatewayOf, intake(), taken),
    takeWatchRequests: async (requests, provenance) => handleWatchRequests(requests, intake(), provenance),
    takeWatchRecords: async (records) => handleWatchRecords(records, intake()),
    judgeWatchRequests: (requests) => judgeWatchRequests(requests, gateways),
    ask: (order, deadlineMs) => poller.ask(order, deadlineMs),
    tracked,
    examiner,
    async readSoon(order) {
      if (!poller.nudge(watchKey(order))) await openAgain(order, intake());
    },
    assignmentChanged: () => ownership.changed(),
    status: () => poller.status(),
    stop: async () => void (await Promise.all([poller.stop(), ownership.stop()])),
  };
}

function logPollerEvent({ log, signal }: OrdersOptions, gateway: string, event: PollerEvent): void {
  if (event.type === 'circuits')
    log.warn({ gateway, open: event.open }, 'the gateway refuses our credentials or address');
  else if (event.type === 'blind' && event.reason === null)
    log.warn({ gateway }, 'the gateway answers status requests again');
  else if (event.type === 'blind')
    log.warn(
      { gateway, reason: event.reason },
      'the gateway does not answer status requests: orders are tried again, and alerts see nothing new',
    );
  else if (!signal.aborted)
    log.error({ gateway, err: event.error }, 'a reply could not be stored; the order is read again');
}
