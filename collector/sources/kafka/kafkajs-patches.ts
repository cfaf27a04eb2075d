import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

const load = createRequire(import.meta.url);

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
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
