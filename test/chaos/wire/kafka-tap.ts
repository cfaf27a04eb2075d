import {
  cutAt,
  newExchange,
  NO_BYTES,
  type Exchange,
  type Passage,
  type Tap,
  type TapHost,
} from './exchange.ts';

const APIS: Readonly<Record<number, string>> = {
  0: 'Produce',
  1: 'Fetch',
  2: 'ListOffsets',
  3: 'Metadata',
  8: 'OffsetCommit',
  9: 'OffsetFetch',
  10: 'FindCoordinator',
  11: 'JoinGroup',
  12: 'Heartbeat',
  13: 'LeaveGroup',
  14: 'SyncGroup',
  18: 'ApiVersions',
};

/**
 * Kafka's wire protocol: `int32 length`, then for a request `int16 api, int16 version, int32 correlation`,
 * for an answer `int32 correlation`. Whole frames are passed on.
 */
export function createKafkaTap(host: TapHost): Tap {
  const requests = createFrames();
  const answers = createFrames();
  const open = new Map<number, { exchange: Exchange; version: number }>();

  return {
    up: (chunk) =>
      each(requests.add(chunk), (frame) => {
        const exchange = newExchange(APIS[frame.readInt16BE(4)] ?? 'other');
        exchange.requestBytes = frame.length;
        host.asked(exchange);
        open.set(frame.readInt32BE(8), { exchange, version: frame.readInt16BE(6) });
        return cutAt(host, 'request', exchange, { head: NO_BYTES, rest: frame, first: true });
      }),
    down: (chunk) =>
      each(answers.add(chunk), (frame) => {
        const correlation = frame.readInt32BE(4);
        const asked = open.get(correlation);
        if (asked === undefined) return null;
        open.delete(correlation);
        const { exchange, version } = asked;
        readAnswer(exchange, version, frame.subarray(8));
        const cut = cutAt(host, 'answer', exchange, { head: NO_BYTES, rest: frame, first: true });
        if (cut === null) host.answered(exchange);
        return cut;
      }),
  };
}

/** Only what the harness counts: who joined which generation, and commits that were taken. */
function readAnswer(exchange: Exchange, version: number, body: Buffer): void {
  exchange.status = 0;
  if (exchange.name === 'JoinGroup') {
    const at = version >= 2 ? 4 : 0;
    exchange.status = body.readInt16BE(at);
    exchange.generation = exchange.status === 0 ? body.readInt32BE(at + 2) : null;
  }
  if (exchange.name === 'OffsetCommit') exchange.status = commitError(body, version >= 3 ? 4 : 0);
}

/** `[topic [partition error]]`: the first error there is, else 0. */
function commitError(body: Buffer, start: number): number {
  let at = start;
  const int32 = () => body.readInt32BE((at += 4) - 4);
  const int16 = () => body.readInt16BE((at += 2) - 2);
  for (let topics = int32(); topics > 0; topics -= 1) {
    const nameLength = int16();
    at += nameLength;
    for (let partitions = int32(); partitions > 0; partitions -= 1) {
      int32();
      const error = int16();
      if (error !== 0) return error;
    }
  }
  return 0;
}

function each(frames: readonly Buffer[], look: (frame: Buffer) => Passage | null): Passage {
  const forward: Buffer[] = [];
  for (const frame of frames) {
    const cut = look(frame);
    if (cut !== null) return { ...cut, forward: [...forward, ...cut.forward] };
    forward.push(frame);
  }
  return { forward };
}

function createFrames() {
  let rest: Buffer[] = [];
  let length = 0;
  return {
    /** Complete frames, their length field included. */
    add(chunk: Buffer): Buffer[] {
      rest.push(chunk);
      length += chunk.length;
      const frames: Buffer[] = [];
      for (;;) {
        const head = (rest[0]?.length ?? 0) >= 4 ? rest[0] : length >= 4 ? Buffer.concat(rest) : undefined;
        if (head === undefined) return frames;
        const wanted = head.readInt32BE(0) + 4;
        if (length < wanted) return frames;
        const bytes = rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest);
        frames.push(bytes.subarray(0, wanted));
        const left = bytes.subarray(wanted);
        rest = left.length === 0 ? [] : [left];
        length = left.length;
      }
    },
  };
}
