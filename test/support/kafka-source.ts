import { createKafkaSource } from '../../collector/sources/kafka/consumer.ts';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import type {
  HandleContext,
  KafkaEvent,
  KafkaSource,
  KafkaSourceOptions,
} from '../../collector/sources/kafka/port.ts';
import { PATIENCE_MS } from './until.ts';

export interface Collected {
  readonly source: KafkaSource;
  readonly records: KafkaRecord[];
  readonly events: KafkaEvent[];
  /** Events of one type, in order. */
  of<T extends KafkaEvent['type']>(type: T): Extract<KafkaEvent, { type: T }>[];
}

type Given = Pick<KafkaSourceOptions, 'brokers' | 'groupId' | 'topics'> & Partial<KafkaSourceOptions>;

const opened = new Set<KafkaSource>();

/** A source that keeps what it is handed; `handle`, if given, runs first. */
export function collect(options: Given): Collected {
  const records: KafkaRecord[] = [];
  const events: KafkaEvent[] = [];
  const source = createKafkaSource({
    sessionTimeoutMs: 6000,
    stopTimeoutMs: 3000,
    backoff: { initialMs: 100, maxMs: 1000 },
    ...options,
    async handle(batch: readonly KafkaRecord[], context: HandleContext) {
      await options.handle?.(batch, context);
      records.push(...batch);
    },
    onEvent: (event) => events.push(event),
  });
  opened.add(source);
  type Of = Collected['of'];
  return { source, records, events, of: ((type) => events.filter((event) => event.type === type)) as Of };
}

/** For `afterEach`: stops what a test left open. */
export async function stopAll(): Promise<void> {
  const open = [...opened];
  opened.clear();
  await Promise.all(open.map((source) => source.stop()));
}

/** The values of records as text, in the order of arrival. */
export function texts(records: readonly KafkaRecord[]): string[] {
  return records.map(({ value }) => (value === null ? '' : Buffer.from(value).toString()));
}

/** Waits until `condition` holds; says what was waited for when it does not. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
