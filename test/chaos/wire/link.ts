import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import {
  pass,
  type Exchange,
  type Moment,
  type Passage,
  type Tap,
  type TapHost,
  type Trap,
} from './exchange.ts';

/** What the network does to a link at the moment. */
export interface Weather {
  /** Each piece of bytes waits as long. */
  latencyMs: number;
  /** No faster than this; null: as fast as it goes. */
  bytesPerSecond: number | null;
  /** Bytes stay where they are until this ends; connections stay open. */
  blackhole: boolean;
  /** New connections are reset. */
  refuse: boolean;
}

const CALM: Weather = { latencyMs: 0, bytesPerSecond: null, blackhole: false, refuse: false };

/** What happened to bytes, counted where it happened. */
export interface LinkCounts {
  connections: number;
  refused: number;
  reset: number;
  delayedPieces: number;
  throttledBytes: number;
  heldBytes: number;
  /** By trap moment. */
  cuts: Record<Moment, number>;
  /** Exchanges whose answer went on, by name. */
  answered: Map<string, number>;
}

/** A TCP proxy between one client and one server. */
export interface Link {
  readonly name: string;
  readonly port: number;
  readonly counts: LinkCounts;
  set(weather: Partial<Weather>): void;
  calm(): void;
  /** Resets the connections that are open. Returns how many. */
  resetAll(): number;
  /** Sets a trap; the promise resolves when it sprang. `remove` takes it away unsprung. */
  trap(trap: Omit<Trap, 'fire'> & { fire?: Trap['fire'] }): { sprung: Promise<Exchange>; remove(): void };
  /** Asked for each exchange at each moment, for cuts that are drawn. */
  decide: ((moment: Moment, exchange: Exchange) => boolean) | null;
  /** Called with each request that arrives. */
  onAsked(listener: (exchange: Exchange) => void): void;
  /** Called with each answer that went on. */
  onAnswered(listener: (exchange: Exchange) => void): () => void;
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly name: string;
  readonly targetPort: () => number;
  readonly tap: (host: TapHost) => Tap;
  /** @default a free one */
  readonly port?: number;
}

export async function openLink(options: LinkOptions): Promise<Link> {
  const weather: Weather = { ...CALM };
  const traps = new Set<Trap>();
  const listeners = new Set<(exchange: Exchange) => void>();
  const askListeners = new Set<(exchange: Exchange) => void>();
  const pairs = new Set<() => void>();
  const wake = new Set<() => void>();
  const counts: LinkCounts = {
    connections: 0,
    refused: 0,
    reset: 0,
    delayedPieces: 0,
    throttledBytes: 0,
    heldBytes: 0,
    cuts: { request: 0, 'half-request': 0, answer: 0, 'half-answer': 0 },
    answered: new Map(),
  };

  const host: TapHost = {
    spring(moment, exchange) {
      for (const trap of traps) {
        if (trap.moment !== moment || !trap.matches(exchange)) continue;
        traps.delete(trap);
        counts.cuts[moment] += 1;
        return trap;
      }
      if (link.decide?.(moment, exchange) !== true) return null;
      counts.cuts[moment] += 1;
      return { moment, matches: () => true, fire: () => undefined };
    },
    asked(exchange) {
      for (const listener of askListeners) listener(exchange);
    },
    answered(exchange) {
      counts.answered.set(exchange.name, (counts.answered.get(exchange.name) ?? 0) + 1);
      for (const listener of listeners) listener(exchange);
    },
  };

  const server = createServer({ noDelay: true }, (client) => {
    counts.connections += 1;
    client.on('error', () => undefined);
    if (weather.refuse) {
      counts.refused += 1;
      client.resetAndDestroy();
      return;
    }
    const target = connect({ port: options.targetPort(), host: '127.0.0.1', noDelay: true });
    const tap = options.tap(host);
    const end = (): void => {
      pairs.delete(end);
      for (const socket of [client, target]) if (!socket.destroyed) socket.resetAndDestroy();
    };
    pairs.add(end);
    target.on('error', end);
    client.on('close', () => (pairs.delete(end), target.destroy()));
    target.on('close', () => (pairs.delete(end), client.destroy()));
    carry(client, target, (chunk) => tap.up(chunk), end);
    carry(target, client, (chunk) => tap.down(chunk), end);
  });

  /** Bytes of one direction, in order, as the weather lets them. */
  function carry(from: Socket, to: Socket, look: (chunk: Buffer) => Passage, end: () => void): void {
    const queue: Passage[] = [];
    let busy = false;
    from.on('data', (chunk: Buffer) => {
      const passage = to.destroyed ? pass(Buffer.alloc(0)) : look(chunk);
      if (!busy && isCalm() && passage.cut === undefined) {
        for (const bytes of passage.forward) {
          if (!to.write(bytes)) {
            from.pause();
            to.once('drain', () => from.resume());
          }
        }
        return;
      }
      queue.push(passage);
      from.pause();
      if (!busy) void drain();
    });
    from.on('end', () => {
      if (!busy) to.end();
    });

    async function drain(): Promise<void> {
      busy = true;
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        for (const bytes of next.forward) await carryPiece(to, bytes);
        if (next.cut !== undefined) {
          next.cut();
          end();
          return;
        }
      }
      busy = false;
      from.resume();
      if (from.readableEnded) to.end();
    }
  }

  async function carryPiece(to: Socket, bytes: Buffer): Promise<void> {
    if (weather.latencyMs > 0) {
      counts.delayedPieces += 1;
      await sleep(weather.latencyMs);
    }
    let held = false;
    while (weather.blackhole && !to.destroyed) {
      if (!held) counts.heldBytes += bytes.length;
      held = true;
      await new Promise<void>((resolve) => wake.add(resolve));
    }
    for (let rest = bytes; rest.length > 0 && !to.destroyed;) {
      const rate = weather.bytesPerSecond;
      const slice = rate === null ? rest : rest.subarray(0, Math.max(1, rate / 20));
      await new Promise<void>((resolve) => to.write(slice, () => resolve()));
      rest = rest.subarray(slice.length);
      if (rate !== null) {
        counts.throttledBytes += slice.length;
        await sleep(50);
      }
    }
  }

  function isCalm(): boolean {
    return weather.latencyMs === 0 && weather.bytesPerSecond === null && !weather.blackhole;
  }

  function set(change: Partial<Weather>): void {
    Object.assign(weather, change);
    if (!weather.blackhole) {
      for (const resolve of wake) resolve();
      wake.clear();
    }
  }

  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const link: Link = {
    name: options.name,
    port: (server.address() as AddressInfo).port,
    counts,
    set,
    calm: () => set(CALM),
    resetAll() {
      const open = [...pairs];
      for (const end of open) end();
      counts.reset += open.length;
      return open.length;
    },
    trap({ moment, matches, fire }) {
      const { promise: sprung, resolve } = Promise.withResolvers<Exchange>();
      const trap: Trap = {
        moment,
        matches,
        fire(exchange) {
          fire?.(exchange);
          resolve(exchange);
        },
      };
      traps.add(trap);
      return { sprung, remove: () => void traps.delete(trap) };
    },
    decide: null,
    onAsked: (listener) => void askListeners.add(listener),
    onAnswered(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      server.close();
      set(CALM);
      for (const end of pairs) end();
      await once(server, 'close');
    },
  };
  return link;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
