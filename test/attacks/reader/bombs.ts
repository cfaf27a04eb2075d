import { connect, type Socket } from 'node:net';
import { statement, type Attack } from './attack.ts';
import { REQUESTS } from './requests.ts';

/** Statements that a reader may run, and that want all that the machine has. */
const GREEDY = [
  'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(cityHash64(number))',
  'SELECT groupArray(number) FROM numbers(10000000000)',
  'SELECT uniqExact(number) FROM numbers(10000000000)',
  'SELECT number FROM numbers(10000000000) ORDER BY cityHash64(number)',
  "SELECT repeat('x', 1000000) FROM numbers(100000)",
  'SELECT count() FROM numbers(100000000) AS a JOIN numbers(100000000) AS b ON a.number = b.number',
  'SELECT count() FROM gatewatch.history_events AS a, gatewatch.history_events AS b, gatewatch.orders AS c',
  'SELECT arrayJoin(range(10000000)), arrayJoin(range(10000000))',
];

/** Bodies that cost much to read: long, deep, packed. */
const COSTLY = REQUESTS.filter(({ group }) => group === 'length' || group === 'compression');

export const BOMBS: readonly Attack[] = [...GREEDY.map((sql) => statement('greedy', sql)), ...COSTLY];

/** Connections that say next to nothing, for ever. A door that closes one finds another at once. */
export function holdConnections(port: number, count: number): { readonly close: () => void } {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const open = (): void => {
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('connect', () => socket.write('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: '));
    const drip = setInterval(() => socket.write('a'), 1_000);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      sockets.delete(socket);
      if (isOpen) setTimeout(open, 500);
    });
  };
  for (let made = 0; made < count; made += 1) open();
  return {
    close() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
