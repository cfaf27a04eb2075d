import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { type Message, Partitioners } from 'kafkajs';
import { createRandom } from '../../../sandbox/random.ts';
import { testClient } from '../../support/kafka-topics.ts';
import { TOPICS } from '../processes/broker.ts';
import { poisonCallback, poisonWatch } from './poison.ts';

/** Shares of what the bridge does to records on their way, each drawn by the record's number. */
export interface Mischief {
  readonly poison: number;
  /** The same record once more, as a producer's retry writes it. */
  readonly duplicates: number;
  /** The same content once more under another delivery id, as a gateway's re-send. */
  readonly resends: number;
  /** Held back by up to three seconds, so that callbacks change places. */
  readonly shuffled: number;
  /** Without a delivery id: the record's coordinates identify it. */
  readonly anonymous: number;
  /** Handed to the collector's own intake instead of Kafka. */
  readonly byIntake: number;
}

export const MISCHIEF: Mischief = {
  poison: 0.01,
  duplicates: 0.04,
  resends: 0.03,
  shuffled: 0.08,
  anonymous: 0.2,
  byIntake: 0.05,
};

/**
 * The merchant's own system: takes callbacks and new orders from the gateway over HTTP and writes them to
 * Kafka. Never killed, and never gives a record up.
 */
export interface Bridge {
  readonly callbackUrl: string;
  readonly watchUrl: string;
  /** Records waiting for the broker, and those held back. */
  readonly pending: () => number;
  /** Bodies that the collector's intake answered with 200, with how often. */
  readonly takenByIntake: ReadonlyMap<string, number>;
  /** Records that the broker acknowledged. */
  readonly produced: () => number;
  close(): Promise<void>;
}

interface Outgoing {
  readonly topic: string;
  readonly message: Message;
}

const HOLD_MS = 3000;
const BATCH = 500;

export async function startBridge(options: {
  readonly seed: string;
  readonly brokers: readonly string[];
  readonly gateway: string;
  readonly mischief: Mischief;
  /** The collector's intake, e.g. `http://127.0.0.1:8080/callbacks/sandbox`. */
  readonly intake: string;
}): Promise<Bridge> {
  const { seed, mischief } = options;
  const queue: Outgoing[] = [];
  const takenByIntake = new Map<string, number>();
  let held = 0;
  let sequence = 0;
  let produced = 0;
  let sending = 0;
  let closed = false;
  const producer = testClient(options.brokers).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    retry: { retries: 2 },
  });
  await producer.connect();

  const server = createServer((request, reply) => {
    void take(request).then(
      (status) => reply.writeHead(status).end(),
      () => reply.writeHead(503).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loop = pump();

  async function take(request: IncomingMessage): Promise<number> {
    const body = await buffer(request);
    const number = sequence++;
    const random = createRandom(seed, 'bridge', number);
    if (request.url === '/orders') {
      send(TOPICS.orders, { key: `order-${number}`, value: body, headers: { chaos: 'watch' } }, 0);
      if (random.chance(mischief.poison)) send(TOPICS.orders, poisonWatch(random), 0);
      return 200;
    }
    const signature = String(request.headers['signature'] ?? '');
    const { externalId } = JSON.parse(body.toString()) as { externalId: string };
    if (random.chance(mischief.byIntake)) return forward(body, signature);
    const message = (chaos: string, deliveryId: string | null): Message => ({
      key: externalId,
      value: body,
      headers: {
        chaos,
        seq: String(number),
        ...(signature === '' ? {} : { Signature: signature }),
        ...(deliveryId === null ? {} : { 'delivery-id': deliveryId }),
      },
    });
    const deliveryId = random.chance(mischief.anonymous) ? null : random.uuid();
    const shuffled = random.chance(mischief.shuffled);
    send(TOPICS.callbacks, message('callback', deliveryId), shuffled ? random.int(100, HOLD_MS) : 0);
    if (random.chance(mischief.duplicates))
      send(TOPICS.callbacks, message('duplicate', deliveryId), random.int(0, HOLD_MS));
    if (random.chance(mischief.resends))
      send(TOPICS.callbacks, message('resend', random.uuid()), random.int(0, HOLD_MS));
    if (random.chance(mischief.poison)) send(TOPICS.callbacks, poisonCallback(random, externalId), 0);
    return 200;
  }

  /** The gateway sends again when this is not 200. */
  async function forward(body: Buffer, signature: string): Promise<number> {
    const { status } = await fetch(options.intake, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'Content-Type': 'application/json', ...(signature === '' ? {} : { Signature: signature }) },
      signal: AbortSignal.timeout(3000),
    });
    if (status !== 200) return 503;
    const key = body.toString('latin1');
    takenByIntake.set(key, (takenByIntake.get(key) ?? 0) + 1);
    return 200;
  }

  function send(topic: string, message: Message, delayMs: number): void {
    if (delayMs === 0) {
      queue.push({ topic, message });
      return;
    }
    held += 1;
    setTimeout(() => {
      held -= 1;
      queue.push({ topic, message });
    }, delayMs);
  }

  async function pump(): Promise<void> {
    for (;;) {
      if (closed && queue.length === 0) return;
      const batch = queue.splice(0, BATCH);
      sending = batch.length;
      if (batch.length > 0) await deliver(batch);
      sending = 0;
      if (queue.length < BATCH) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function deliver(batch: readonly Outgoing[]): Promise<void> {
    for (const topic of Object.values(TOPICS)) {
      const messages = batch.filter((one) => one.topic === topic).map(({ message }) => message);
      // An attempt whose answer got lost may have written them: they are then there twice, and count by what
      // is there.
      while (messages.length > 0) {
        try {
          await producer.send({ topic, acks: -1, messages });
          produced += messages.length;
          break;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
      }
    }
  }

  return {
    callbackUrl: `${url}/callbacks`,
    watchUrl: `${url}/orders`,
    pending: () => queue.length + held + sending,
    takenByIntake,
    produced: () => produced,
    async close() {
      closed = true;
      await loop;
      await producer.disconnect();
      server.closeAllConnections();
      server.close();
    },
  };
}
