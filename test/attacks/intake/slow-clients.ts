import { connect, type Socket } from 'node:net';

export interface SlowReport {
  /** Connections that were opened, one after another in each place. */
  readonly opened: number;
  /** Connections that the server closed. */
  readonly cutOff: number;
  /** Most that were open at once. */
  readonly mostOpen: number;
}

export interface SlowClients {
  /** Resolves when all of them have connected once. */
  readonly began: Promise<void>;
  stop(): SlowReport;
}

const DRIP_EVERY_MS = 500;
const HEAD = 'POST /callbacks/sandbox HTTP/1.1\r\nHost: 127.0.0.1\r\n';

/**
 * Connections that drip a byte now and then, in the head, the body or a chunk, or say nothing at all; each is
 * opened again when the server ends it. Half of them come from one address, the others from many.
 */
export function startSlowClients(url: string, count: number): SlowClients {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let [opened, cutOff, mostOpen, isRunning] = [0, 0, 0, true];

  function begin(place: number): Promise<void> {
    const from = place % 2 === 0 ? '127.0.3.1' : `127.0.3.${2 + (place % 16)}`;
    const socket = connect({ host: hostname, port: Number(port), localAddress: from });
    const { first, drop } = manner(place);
    const drip = setInterval(() => socket.write(drop), DRIP_EVERY_MS);
    opened += 1;
    open.add(socket);
    mostOpen = Math.max(mostOpen, open.size);
    // Whoever reads nothing does not see that the other end has closed.
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      open.delete(socket);
      if (!isRunning) return;
      cutOff += 1;
      setTimeout(() => isRunning && void begin(place), 200);
    });
    return new Promise((resolve) => {
      socket.once('connect', () => {
        socket.write(first);
        resolve();
      });
      socket.once('close', resolve);
    });
  }

  const began = Promise.all(Array.from({ length: count }, (_, place) => begin(place))).then(() => undefined);
  return {
    began,
    stop() {
      isRunning = false;
      for (const socket of open) socket.destroy();
      return { opened, cutOff, mostOpen };
    },
  };
}

function manner(place: number): { readonly first: string; readonly drop: string } {
  switch (place % 4) {
    case 0:
      return { first: `${HEAD}X-Slow: `, drop: 'x' };
    case 1:
      return { first: `${HEAD}Content-Length: 100000\r\n\r\n`, drop: 'x' };
    case 2:
      return { first: `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, drop: '1\r\nx\r\n' };
    default:
      return { first: '', drop: '' };
  }
}
