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

export interface KafkaProducer {
  /**
   * Resolves when all in-sync replicas have the message. Throws a `GatewatchError` within `sendTimeoutMs`, at
   * once while the broker is known to be away. After a timeout the message may have arrived all the same.
   */
  send(topic: string, message: ProducedMessage): Promise<{ partition: number; offset: string }>;
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
 * and drops it. Callers put an id of the delivery into a header instead, which also tells repetitions of
 * theirs.
 */
export function createKafkaProducer(options: KafkaProducerOptions): KafkaProducer {
  const sendTimeoutMs = options.sendTimeoutMs ?? 3000;
  const stopping = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const kafka = createClient({
    ...options,
    clientOptions: {
      requestTimeout: sendTimeoutMs,
      connectionTimeout: sendTimeoutMs,
      ...options.clientOptions,
    },
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 3 },
    onLog: (level, message) => options.onEvent?.({ type: 'client_log', level, message }),
  });
  /** Undefined until the first attempt is over. */
  let link: Producer | GatewatchError | undefined;
  let connecting = connect();

  return {
    async send(topic, message) {
      if (stopping.signal.aborted) {
        throw new GatewatchError('The Kafka producer is stopped.', { code: 'kafka_stopped' });
      }
      const sending = deliver(topic, message);
      const over = sending.catch(() => undefined).finally(() => pending.delete(over));
      pending.add(over);
      const sent = await withDeadline(sending, sendTimeoutMs);
      if (sent !== undefined) return sent;
      // A connection that answers nothing may be dead without anyone having noticed: begin afresh.
      if (link !== undefined && !(link instanceof GatewatchError)) disconnected(link, tookTooLong());
      throw tookTooLong();
    },
    isConnected: () => link !== undefined && !(link instanceof GatewatchError),
    async stop() {
      stopping.abort();
      await settlesWithin(Promise.all(pending), options.stopTimeoutMs ?? 5000);
      await settlesWithin(connecting, 1000);
      if (link !== undefined && !(link instanceof GatewatchError))
        await settlesWithin(link.disconnect(), 2000);
    },
  };

  async function deliver(
    topic: string,
    message: ProducedMessage,
  ): Promise<{ partition: number; offset: string }> {
    if (link === undefined) await connecting;
    if (link === undefined) throw tookTooLong();
    if (link instanceof GatewatchError) throw link;
    const producer = link;
    try {
      const [sent] = await producer.send({
        topic,
        acks: -1,
        timeout: sendTimeoutMs,
        messages: [toMessage(message)],
      });
      if (sent?.baseOffset === undefined) throw new Error('the broker acknowledged without an offset');
      return { partition: sent.partition, offset: sent.baseOffset };
    } catch (cause) {
      const error = describeFailure(cause, options.brokers);
      if (error.code === 'kafka_unreachable' || error.code === 'kafka_timeout') disconnected(producer, error);
      throw error;
    }
  }

  /** Tries until connected or stopped; resolves after the first attempt that decides what `send` answers. */
  async function connect(attempt = 1): Promise<void> {
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      metadataMaxAge: 60_000,
    });
    try {
      await producer.connect();
      link = producer;
      options.onEvent?.({ type: 'connected' });
    } catch (cause) {
      void producer.disconnect().catch(() => undefined);
      const error = describeFailure(cause, options.brokers);
      const retryInMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10));
      link = error;
      options.onEvent?.({ type: 'unreachable', error, retryInMs });
      void again(retryInMs, attempt + 1);
    }
  }

  async function again(delayMs: number, attempt: number): Promise<void> {
    await sleep(delayMs, stopping.signal);
    if (!stopping.signal.aborted) await (connecting = connect(attempt));
  }

  function disconnected(producer: Producer, error: GatewatchError): void {
    if (link !== producer) return;
    link = error;
    void producer.disconnect().catch(() => undefined);
    options.onEvent?.({ type: 'unreachable', error, retryInMs: 0 });
    void again(0, 1);
  }

  function tookTooLong(): GatewatchError {
    const message = `Kafka at ${options.brokers.join(', ')} did not acknowledge within ${sendTimeoutMs} ms.`;
    return new GatewatchError(message, { code: 'kafka_timeout', retryable: true });
  }
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
