import { settlesWithin } from '../../../schemas/deadline.ts';
import type { KafkaEvent, KafkaSource, KafkaSourceOptions } from './port.ts';
import { ENOUGH_BYTES } from './bounded-fetch.ts';
import { createProgress } from './progress.ts';
import {
  assignmentOf,
  initialState,
  nextState,
  retryDelayMs,
  type SourceChange,
  statusOf,
  tenureOf,
} from './source-state.ts';
import { type RunningSource, type SourceSettings, supervise } from './supervise.ts';

/**
 * A member of a consumer group that hands over records and commits their offsets after they are durable,
 * never before (at least once). It survives what brokers do: absence at start, restarts, rebalances, missing
 * topics.
 */
export function createKafkaSource(options: KafkaSourceOptions): KafkaSource {
  const settings = withDefaults(options);
  const now = (): number => options.clock?.now() ?? performance.now();
  const backoff = options.backoff ?? { initialMs: 500, maxMs: 15_000 };
  const progress = createProgress(now, settings.stallTimeoutMs);
  const stopping = new AbortController();
  let state = initialState(now());
  let running: Promise<void> | undefined;

  const change = (what: SourceChange): void => void (state = nextState(state, what, now()));
  const emit = (event: KafkaEvent): void => {
    if (event.type === 'committed') change({ type: 'progress' });
    if (event.type === 'group_join') change({ ...event, type: 'joined' });
    try {
      options.onEvent?.(event);
    } catch {
      // An observer's mistake must not end the consumer.
    }
  };
  const source: RunningSource = {
    settings,
    progress,
    stopping: stopping.signal,
    session: undefined,
    state: () => state,
    change,
    status: () => statusOf(state, progress.status(), now(), settings),
    emit,
    onConfirmed: (sentWallMs) =>
      change({ type: 'confirmed', sentMs: now() - (Date.now() - sentWallMs), sentWallMs }),
    retryDelayMs: (attempt) => retryDelayMs(backoff, attempt, Math.random()),
  };

  return {
    async start() {
      running ??= supervise(source);
    },
    async stop() {
      stopping.abort();
      change({ type: 'leaving' });
      const clean = (await source.session?.stop(settings.stopTimeoutMs)) ?? true;
      if (running !== undefined) await settlesWithin(running, 2000);
      change({ type: 'group', state: 'stopped' });
      emit({ type: 'stopped', clean });
    },
    status: source.status,
    assignment: (topic) => assignmentOf(state, topic),
    tenure: (topic) => tenureOf(state, topic, { ms: now(), wallMs: Date.now() }, settings.sessionTimeoutMs),
  };
}

function withDefaults(options: KafkaSourceOptions): SourceSettings {
  return {
    ...options,
    sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000,
    rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? 30_000,
    stallTimeoutMs: options.stallTimeoutMs ?? 60_000,
    stopTimeoutMs: options.stopTimeoutMs ?? 10_000,
    fromBeginning: options.fromBeginning ?? true,
    maxBytesPerPartition: options.maxBytesPerPartition ?? ENOUGH_BYTES,
    maxRecordsPerHandle: options.maxRecordsPerHandle ?? 3_000,
    partitionsConcurrency: options.partitionsConcurrency ?? 8,
  };
}
