import { GatewatchError } from '../errors.ts';
import type { Health } from '../http/api-routes.ts';
import type { SinkStatus } from '../sinks/port.ts';
import type { KafkaSourceStatus } from '../sources/kafka/port.ts';
import type { PollerStatus } from '../sources/poller/port.ts';

export interface HealthInput {
  readonly kafka: KafkaSourceStatus | null;
  readonly sink: SinkStatus;
  readonly pollers?: ReadonlyMap<string, PollerStatus>;
}

export interface HealthState {
  /** The schema is in place and the watched orders are loaded. */
  started(): void;
  /** Should the process go on? A dependency that is away is no reason to restart; a stalled consumer is. */
  alive(input: HealthInput): Health;
  /** Does everything that is needed answer? */
  ready(input: HealthInput): Health;
  /** Runs it once the store can be used. @throws GatewatchError `store_unavailable` before */
  whenReady<T>(run: () => Promise<T>): Promise<T>;
}

export function createHealth(): HealthState {
  let isStarted = false;
  return {
    started: () => void (isStarted = true),
    alive({ kafka }) {
      const problems: Record<string, string> = {};
      if (kafka?.stalled === true) problems['kafka'] = 'no progress although there are records';
      if (kafka?.fatal !== null && kafka?.fatal !== undefined) problems['kafka'] = kafka.fatal.message;
      return { ok: Object.keys(problems).length === 0, problems, details: {} };
    },
    ready({ kafka, sink, pollers }) {
      const problems: Record<string, string> = {};
      if (!isStarted) problems['store'] = 'waiting for the store: the schema is not in place yet';
      if (sink.state === 'retrying') problems['store'] = sink.lastError ?? 'no answer';
      if (kafka !== null && kafka.groupState !== 'stable') {
        problems['kafka'] = kafka.lastError?.message ?? `the consumer group is ${kafka.groupState}`;
      } else if (kafka !== null && !kafka.connected) {
        problems['kafka'] = kafka.lastError?.message ?? 'no broker answers';
      }
      return {
        ok: Object.keys(problems).length === 0,
        problems,
        details: {
          watched: [...(pollers ?? [])].reduce((sum, [, status]) => sum + status.watched, 0),
          due: [...(pollers ?? [])].reduce((sum, [, status]) => sum + status.due, 0),
          backlogRows: sink.backlogRows,
          ...(kafka === null
            ? {}
            : { kafka: { state: kafka.groupState, lag: kafka.lag, missingTopics: kafka.missingTopics } }),
        },
      };
    },
    async whenReady(run) {
      if (isStarted) return run();
      throw new GatewatchError('The store is not ready yet', { code: 'store_unavailable', retryable: true });
    },
  };
}
