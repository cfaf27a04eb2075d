import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

interface Connection {
  isConnected(): boolean;
  connect(): Promise<true>;
  disconnect(): Promise<true>;
  socket?: Socket;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

/** Every answer begins with its length. */
const LENGTH_BYTES = 4;

let mended = false;

/**
 * kafkajs 2.2.4 uses a connection object again after its socket broke, with the first half of an answer still
 * in its buffer: the next socket's bytes are then read from the middle of a frame, which throws where nobody
 * can catch it, or waits for gigabytes. Every new socket begins with an empty buffer instead.
 *
 * It also takes leave of a dead socket again and again while a broker is away, and each `unref` of one leaves
 * a listener for a connection that never comes, until Node warns of a leak.
 */
export function startConnectionsFresh(): void {
  if (mended) return;
  mended = true;
  const load = createRequire(import.meta.url);
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
  const disconnect = prototype.disconnect;
  prototype.disconnect = function (this: Connection): Promise<true> {
    const { socket } = this;
    if (socket?.destroyed === true) socket.unref = () => socket;
    return disconnect.call(this);
  };
}
