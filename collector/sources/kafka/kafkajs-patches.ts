import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

const load = createRequire(import.meta.url);

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

interface Broker {
  listOffsets(request: OffsetsRequest): Promise<unknown>;
}

interface OffsetsRequest {
  isolationLevel?: number;
  topics: readonly { partitions: readonly { partition: number; timestamp: number }[] }[];
}

interface Connection {
  isConnected(): boolean;
  connect(): Promise<true>;
  disconnect(): Promise<true>;
  socket?: Socket;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

let patched = false;

/**
 * Corrects faults of kafkajs 2.2.4 in its own classes, which it does not export. Safe to call again.
 * (`bounded-fetch.ts` replaces how it decodes what it fetched.)
 */
export function patchKafkajs(): void {
  if (patched) return;
  patched = true;
  stopIdleTimers();
  resetReadBuffers();
  stopLeakingListeners();
  askForBothEnds();
}

/**
 * A timer of 1 ms is armed again on every connection for ever, even with nothing pending (its delay comes out
 * negative, which Node 24 also warns about): measured, 2.8 % of a core for one idle consumer, 0.6 % without.
 */
function stopIdleTimers(): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}

/** Every answer begins with its length. */
const LENGTH_BYTES = 4;

/**
 * A connection object is used again after its socket broke, with the first half of an answer still in its
 * buffer: the next socket's bytes are then read from the middle of a frame, which throws where nobody can
 * catch it, or waits for gigabytes. Every new socket begins with an empty buffer instead.
 */
function resetReadBuffers(): void {
  const { prototype } = load('kafkajs/src/network/connection') as { prototype: Connection };
  const connect = prototype.connect;
  prototype.connect = function (this: Connection): Promise<true> {
    if (!this.isConnected()) {
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = LENGTH_BYTES;
    }
    return connect.call(this);
  };
}

/**
 * A dead socket is disconnected again and again while a broker is away, and each `unref` of one leaves a
 * listener for a connection that never comes, until Node warns of a leak.
 */
function stopLeakingListeners(): void {
  const { prototype } = load('kafkajs/src/network/connection') as { prototype: Connection };
  const disconnect = prototype.disconnect;
  prototype.disconnect = function (this: Connection): Promise<true> {
    const { socket } = this;
    if (socket?.destroyed === true) socket.unref = () => socket;
    return disconnect.call(this);
  };
}

/** As the protocol has them. */
const READ_UNCOMMITTED = 0;
const READ_COMMITTED = 1;
const LATEST = -1;
/** A time that no broker knows: `askForBothEnds` asks for the last stable offset where it is asked for. */
export const LAST_STABLE = -1001;

/**
 * An admin asks for the end of a log as a reader of committed records sees it: what lies behind a transaction
 * that has not ended is not counted. It gets the true end here, and the other one for `LAST_STABLE`.
 * A consumer names its isolation level, and goes on as it was.
 */
function askForBothEnds(): void {
  const { prototype } = load('kafkajs/src/broker') as { prototype: Broker };
  const listOffsets = prototype.listOffsets;
  prototype.listOffsets = function (this: Broker, request: OffsetsRequest): Promise<unknown> {
    if (request.isolationLevel !== undefined) return listOffsets.call(this, request);
    const isStable = request.topics[0]?.partitions[0]?.timestamp === LAST_STABLE;
    const topics = request.topics.map((topic) => ({
      ...topic,
      partitions: topic.partitions.map((one) => (isStable ? { ...one, timestamp: LATEST } : one)),
    }));
    const isolationLevel = isStable ? READ_COMMITTED : READ_UNCOMMITTED;
    return listOffsets.call(this, { ...request, topics, isolationLevel });
  };
}
