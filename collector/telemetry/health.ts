import { GatewatchError } from '../../schemas/errors.ts';
import type { EvaluatorStatus } from '../../schemas/evaluator.ts';
import type { SinkStatus } from '../../schemas/sink.ts';
import type { KafkaSourceStatus, PartitionStatus } from '../../schemas/kafka.ts';
import type { PollerStatus } from '../../schemas/polling.ts';
import type { EpochMicros } from '../../schemas/rows.ts';

export interface Health {
  readonly ok: boolean;
  /** What is wrong, by part; empty when nothing is. */
  readonly problems: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface HealthInput {
  readonly kafka: KafkaSourceStatus | null;
  readonly sink: SinkStatus;
  readonly pollers?: ReadonlyMap<string, PollerStatus>;
  /** Why the store does not answer queries; null while it does. */
  readonly store?: string | null;
  /** Null or missing before the rules are evaluated. */
  readonly evaluator?: EvaluatorStatus | null;
  /** Until when the embedded store answers no reader, in epoch milliseconds. @default 0 */
  readonly readersRefusedUntilMs?: number;
}

export interface HealthState {
  /** What the start is at, in words that follow "waiting for the store: ". */
  starting(step: string): void;
  /** The schema is in place and the watched orders are loaded. */
  started(): void;
  /** Should the process go on? A dependency that is away is no reason to restart; a stalled consumer is. */
  alive(input: HealthInput): Health;
  /** Does everything that is needed answer, and does what was taken in get ahead? */
  ready(input: HealthInput): Health;
  /** Runs it once the store can be used. @throws GatewatchError `store_unavailable` before */
  whenReady<T>(run: () => Promise<T>): Promise<T>;
}

/**
 * After this time without progress a part counts as stalled. Together with the time between two checks,
 * `/readyz` reports it within 15 seconds.
 */
const STALLED_MS = 12_000;
/** A gateway that asks for a pause gets it; when it goes on asking, `/readyz` says so. */
const PAUSED_MS = 45_000;
/** Reads are late, or not answered, for so long: alerts and panels stand still meanwhile. */
const BEHIND_MS = 60_000;
/** An evaluation is due every minute, and another collector takes over within two. */
const EVALUATION_LATE_S = 180;

/** @param now the wall clock; see `Clock` */
export function createHealth(now: () => EpochMicros = () => Date.now() * 1000): HealthState {
  let waitingFor: string | null = 'the schema is not in place yet';

  function storeProblem({ sink, store }: HealthInput): string | null {
    if (sink.state === 'retrying') return sink.lastError ?? 'no answer';
    if (waitingFor !== null) return `waiting for the store: ${waitingFor}`;
    return store ?? null;
  }

  return {
    starting: (step) => void (waitingFor = step),
    started: () => void (waitingFor = null),
    alive({ kafka }) {
      const problems: Record<string, string> = {};
      if (kafka?.stalled === true) problems['kafka'] = 'no progress although there are records';
      if (kafka?.fatal !== null && kafka?.fatal !== undefined) problems['kafka'] = kafka.fatal.message;
      return { ok: Object.keys(problems).length === 0, problems, details: {} };
    },
    ready(input) {
      const { kafka, sink, pollers } = input;
      const found = {
        store: storeProblem(input),
        sink: sinkProblem(sink),
        kafka: kafka === null ? null : kafkaProblem(kafka),
        poller: pollerProblem(pollers ?? new Map(), now()),
        evaluator: evaluatorProblem(input.evaluator ?? null),
        readers: readersProblem(input.readersRefusedUntilMs ?? 0, now()),
      };
      const problems = Object.fromEntries(Object.entries(found).filter(isProblem));
      return {
        ok: Object.keys(problems).length === 0,
        problems,
        details: {
          watched: [...(pollers ?? [])].reduce((sum, [, status]) => sum + status.watched, 0),
          due: [...(pollers ?? [])].reduce((sum, [, status]) => sum + status.due, 0),
          backlogRows: sink.backlogRows,
          ...(kafka === null
            ? {}
            : {
                kafka: {
                  state: kafka.groupState,
                  lag: kafka.lag,
                  uncommitted: kafka.uncommitted,
                  missingTopics: kafka.missingTopics,
                },
              }),
        },
      };
    },
    async whenReady(run) {
      if (waitingFor === null) return run();
      throw new GatewatchError('The store is not ready yet', { code: 'store_unavailable', retryable: true });
    },
  };
}

const isProblem = (entry: [string, string | null]): entry is [string, string] => entry[1] !== null;

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

function sinkProblem({ stalledMs, backlogRows }: SinkStatus): string | null {
  if (stalledMs === null || stalledMs < STALLED_MS) return null;
  return `no rows have been acknowledged for ${seconds(stalledMs)} (${backlogRows} wait)`;
}

function kafkaProblem(kafka: KafkaSourceStatus): string | null {
  if (kafka.groupState !== 'stable')
    return kafka.lastError?.message ?? `the consumer group is ${kafka.groupState}`;
  if (!kafka.connected) return kafka.lastError?.message ?? 'no broker answers';
  const held = kafka.partitions.find(({ heldMs }) => heldMs !== null && heldMs >= STALLED_MS);
  return held === undefined ? null : heldText(held);
}

function heldText({ topic, partition, position, heldMs }: PartitionStatus): string {
  const place = `${topic}/${partition}@${position ?? '?'}`;
  return `records at ${place} are offered again and again for ${seconds(heldMs ?? 0)}`;
}

function pollerProblem(pollers: ReadonlyMap<string, PollerStatus>, now: EpochMicros): string | null {
  for (const [gateway, { stalledMs, pausedMs, due, watermarkAt }] of pollers) {
    if (stalledMs >= STALLED_MS)
      return `${due} orders of ${gateway} are due, and none was read for ${seconds(stalledMs)}`;
    if (pausedMs >= PAUSED_MS)
      return `${gateway} has asked for pauses (Retry-After) for ${seconds(pausedMs)}; ${due} orders are due`;
    const behindMs = (now - watermarkAt) / 1000;
    if (behindMs >= BEHIND_MS)
      return `what is known of ${gateway} is complete only up to ${seconds(behindMs)} ago; ${due} orders are due`;
  }
  return null;
}

function readersProblem(refusedUntilMs: number, now: EpochMicros): string | null {
  const leftMs = refusedUntilMs - now / 1000;
  if (leftMs <= 0) return null;
  return `statements of readers did not end, and none is answered for another ${seconds(leftMs)}`;
}

function evaluatorProblem(evaluator: EvaluatorStatus | null): string | null {
  if (evaluator === null || evaluator.ageSeconds < EVALUATION_LATE_S) return null;
  const { ageSeconds, lastError, holdsLease } = evaluator;
  const cause = lastError ?? (holdsLease ? 'this collector catches up' : 'another collector was to do it');
  return `the alert rules were last evaluated ${seconds(ageSeconds * 1000)} ago: ${cause}`;
}
