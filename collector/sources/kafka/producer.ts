import { type Message, Partitioners, type Producer } from 'kafkajs';
import { settlesWithin, sleep, withDeadline } from '../../../schemas/deadline.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { createClient } from './client.ts';
import { describeFailure } from './failure.ts';
import type { KafkaConnectionOptions } from './port.ts';

export interface KafkaProducerOptions extends KafkaConnectionOptions {
  /** The longest that `send` may take, connecting included. @default 3000 */
  sendTimeoutMs?: number;
  /** How long `stop` waits for sends under way. @default 5000 */
  stopTimeoutMs?: number;
  onEvent?(event: KafkaProducerEvent): void;
}

export type KafkaProducerEvent =
  | { type: 'connected' }
  | { type: 'unreachable'; error: GatewatchError; retryInMs: number }
  | { type: 'client_log'; level: 'warn' | 'error'; message: string };

export interface ProducedMessage {
  /** Decides the partition, by the hash that Kafka's own clients use (murmur2). */
  key: Uint8Array | string | null;
  value: Uint8Array | null;
  headers?: Readonly<Record<string, Uint8Array | string | (Uint8Array | string)[]>>;
}

/** Where a message lies. */
export interface SentMessage {
  partition: number;
  offset: string;
}

export interface KafkaProducer {
  /**
   * Resolves when all in-sync replicas have the message. Throws a `GatewatchError` within `sendTimeoutMs`, at
   * once while the broker is known to be away. After a timeout the message may have arrived all the same.
   */
  send(topic: string, message: ProducedMessage): Promise<SentMessage>;
  /**
   * The same with several messages in one request. Resolves with the place of the first one in each
   * partition. After a failure some of them may have arrived.
   */
  sendAll(topic: string, messages: readonly ProducedMessage[]): Promise<readonly SentMessage[]>;
  /** The broker answered last time it was tried. */
  isConnected(): boolean;
  stop(): Promise<void>;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;

/**
 * A producer that asks for acknowledgement by all in-sync replicas and answers in bounded time. It connects
 * in the background and keeps trying.
 *
 * Not idempotent on purpose: kafkajs takes its sequence number back when a send fails, and gives it to the
 * next message. If the broker did store the failed one, it takes the next for its repetition, answers success
 * and drops it. Callers put an id of the delivery into a header instead, which also marks their own
 * repetitions.
 */
export function createKafkaProducer(options: KafkaProducerOptions): KafkaProducer {
  const sendTimeoutMs = options.sendTimeoutMs ?? 3000;
  const stopping = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const connection = createConnection(options, sendTimeoutMs, stopping.signal);
  const tookTooLong = (): GatewatchError => notAcknowledged(options.brokers, sendTimeoutMs);

  async function deliver(topic: string, messages: readonly ProducedMessage[]): Promise<SentMessage[]> {
    const producer = await connection.producer();
    if (producer === null) throw tookTooLong();
    try {
      return await sendNow(producer, topic, messages, sendTimeoutMs);
    } catch (cause) {
      const error = describeFailure(cause, options.brokers);
      if (error.code === 'kafka_unreachable' || error.code === 'kafka_timeout')
        connection.lost(producer, error);
      throw error;
    }
  }

  async function sendAll(topic: string, messages: readonly ProducedMessage[]): Promise<SentMessage[]> {
    if (stopping.signal.aborted) {
      throw new GatewatchError('The Kafka producer is stopped.', { code: 'kafka_stopped' });
    }
    const sending = deliver(topic, messages);
    const over = sending.catch(() => undefined).finally(() => pending.delete(over));
    pending.add(over);
    const sent = await withDeadline(sending, sendTimeoutMs);
    if (sent !== undefined) return sent;
    // A connection that answers nothing may be dead without anyone having noticed: begin afresh.
    const link = connection.link();
    if (link.state === 'up') connection.lost(link.producer, tookTooLong());
    throw tookTooLong();
  }

  return {
    async send(topic, message) {
      const [sent] = await sendAll(topic, [message]);
      if (sent === undefined) throw new TypeError('a message was acknowledged without a place');
      return sent;
    },
    sendAll,
    isConnected: () => connection.link().state === 'up',
    async stop() {
      stopping.abort();
      await settlesWithin(Promise.all(pending), options.stopTimeoutMs ?? 5000);
      await connection.close();
    },
  };
}

/** What the next `send` finds. `down`: the broker is known to be away, and connecting goes on. */
export type Link<P> =
  | { readonly state: 'connecting' }
  | { readonly state: 'up'; readonly producer: P }
  | { readonly state: 'down'; readonly error: GatewatchError };

/** False for a producer that was replaced, or given up before: what happens to it is no news. */
export function isCurrent<P>(link: Link<P>, producer: P): boolean {
  return link.state === 'up' && link.producer === producer;
}

/** The wait after that failed attempt to connect. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10));
}

/** Keeps a producer connected, in the background and for ever. */
function createConnection(options: KafkaProducerOptions, timeoutMs: number, stopping: AbortSignal) {
  const kafka = createClient({
    ...options,
    clientOptions: { requestTimeout: timeoutMs, connectionTimeout: timeoutMs, ...options.clientOptions },
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 3 },
    onLog: (level, message) => options.onEvent?.({ type: 'client_log', level, message }),
  });
  let link: Link<Producer> = { state: 'connecting' };
  let connecting = connect();

  /** Resolves after one attempt; a failed one is followed by others. */
  async function connect(attempt = 1): Promise<void> {
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      metadataMaxAge: 60_000,
    });
    try {
      await producer.connect();
      link = { state: 'up', producer };
      options.onEvent?.({ type: 'connected' });
    } catch (cause) {
      goDown(producer, describeFailure(cause, options.brokers), reconnectDelayMs(attempt), attempt + 1);
    }
  }

  function goDown(producer: Producer, error: GatewatchError, retryInMs: number, attempt: number): void {
    void producer.disconnect().catch(() => undefined);
    link = { state: 'down', error };
    options.onEvent?.({ type: 'unreachable', error, retryInMs });
    void connectLater(retryInMs, attempt);
  }

  async function connectLater(delayMs: number, attempt: number): Promise<void> {
    await sleep(delayMs, stopping);
    if (!stopping.aborted) await (connecting = connect(attempt));
  }

  return {
    link: () => link,
    /** Waits for the first attempt to connect. @throws why the broker is away */
    async producer(): Promise<Producer | null> {
      if (link.state === 'connecting') await connecting;
      if (link.state === 'down') throw link.error;
      return link.state === 'up' ? link.producer : null;
    },
    lost(producer: Producer, error: GatewatchError): void {
      if (isCurrent(link, producer)) goDown(producer, error, 0, 1);
    },
    async close(): Promise<void> {
      await settlesWithin(connecting, 1000);
      if (link.state === 'up') await settlesWithin(link.producer.disconnect(), 2000);
    },
  };
}

/** Returns the place of the first message of each partition. */
async function sendNow(
  producer: Producer,
  topic: string,
  messages: readonly ProducedMessage[],
  timeoutMs: number,
): Promise<SentMessage[]> {
  const sent = await producer.send({
    topic,
    acks: -1,
    timeout: timeoutMs,
    messages: messages.map(toMessage),
  });
  return sent.map(({ partition, baseOffset }) => {
    if (baseOffset === undefined) throw new Error('the broker acknowledged without an offset');
    return { partition, offset: baseOffset };
  });
}

function notAcknowledged(brokers: readonly string[], timeoutMs: number): GatewatchError {
  const message = `Kafka at ${brokers.join(', ')} did not acknowledge within ${timeoutMs} ms.`;
  return new GatewatchError(message, { code: 'kafka_timeout', retryable: true });
}

function toMessage({ key, value, headers = {} }: ProducedMessage): Message {
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : toBytes(value),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, given]) => [
        name,
        Array.isArray(given) ? given.map((one) => toBytes(one)) : toBytes(given),
      ]),
    ),
  };
}

function toBytes(value: Uint8Array | string): Buffer {
  if (typeof value === 'string') return Buffer.from(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
