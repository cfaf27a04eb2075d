import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import type { AllowedStatement } from './judge.ts';

/** What a reader sent, as it came: nothing in it has been looked at. */
export interface ReaderRequest {
  /** Parameters of the URL. */
  readonly search: readonly (readonly [string, string])[];
  readonly database: string | null;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly body: Uint8Array;
}

/** What may be run of it. */
export interface ReaderVerdict {
  /** Parameters of the URL and of the form, the statement left out. */
  readonly params: readonly (readonly [string, string])[];
  readonly statement: AllowedStatement;
}

export type PolicyAnswer =
  | { readonly id: number; readonly verdict: ReaderVerdict }
  /** An error in ClickHouse's terms. */
  | { readonly id: number; readonly code: number; readonly message: string }
  /** Judging it takes too long: this process ends, and another takes the requests that wait. */
  | { readonly id: number; readonly stuck: true };

export interface PolicyQuestion {
  readonly id: number;
  readonly request: ReaderRequest;
}

/** Longest message: a request's body and its parameters, or a statement in canonical form. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 4;

/**
 * Messages over a stream between two processes of ours: the length (4 bytes, little-endian), then the value
 * serialized by V8.
 */
export function send(channel: Duplex, message: PolicyQuestion | PolicyAnswer): void {
  const body = serialize(message);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(body.length);
  channel.write(Buffer.concat([head, body]));
}

/** Calls `take` for each message. A length that no message of ours has ends the channel. */
export function receive<T extends PolicyQuestion | PolicyAnswer>(
  channel: Duplex,
  take: (message: T) => void,
): void {
  let parts: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  let inHead = true;

  function takeWanted(): Buffer {
    const all = parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
    const rest = all.subarray(wanted);
    parts = rest.length === 0 ? [] : [rest];
    size = rest.length;
    return all.subarray(0, wanted);
  }

  channel.on('data', (chunk: Buffer) => {
    parts.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const bytes = takeWanted();
      if (inHead) {
        wanted = bytes.readUInt32LE();
        if (wanted > MAX_MESSAGE_BYTES) return void channel.destroy();
      } else {
        wanted = HEAD_BYTES;
        take(deserialize(bytes) as T);
      }
      inHead = !inHead;
    }
  });
}
