import type { OpenedStore } from '../../store/open.ts';
import { readOrderTimeline } from '../../store/order-timeline.ts';
import { VERSION } from '../../store/package-files.ts';
import { createStoreProbe } from '../../store/store-probe.ts';
import type { Orders } from '../orders/orders.ts';
import type { ListenerParts } from '../sources/http/listeners.ts';
import type { KafkaInput } from '../sources/kafka/input.ts';
import type { Base } from './base.ts';
import { connectCascadeSafety } from './orders.ts';
import type { Sinks } from './sinks.ts';

/** What the collector's own interface answers. */
export function createApi(
  base: Base,
  opened: OpenedStore,
  { sink, write, checkBackpressure }: Sinks,
  orders: Orders,
  kafka: KafkaInput | null,
): Omit<ListenerParts['api'], 'landing'> {
  const { gateways, clock, life, health, alerting, telemetry } = base;
  const { store } = opened;
  const probe = createStoreProbe({ ask: () => store.queryText('SELECT 1', 'TabSeparated'), clock });
  life.onStop(async () => probe.stop());
  const state = () => ({
    kafka: kafka?.source.status() ?? null,
    sink: sink.status(),
    pollers: orders.status(),
    store: probe.problem(),
    evaluator: alerting.current?.status() ?? null,
    readersRefusedUntilMs: opened.embedded?.readers().refusedUntil ?? 0,
  });
  const cascadeSafety = connectCascadeSafety(base, opened, orders);
  return {
    version: VERSION,
    health: () => health.alive(state()),
    ready: () => health.ready(state()),
    metrics: (accept) => telemetry.renderMetrics(accept),
    judge: orders.judgeWatchRequests,
    watch: (requests) =>
      health.whenReady(
        async () => void (await orders.takeWatchRequests(requests, { watchRequests: requests.length })),
      ),
    timeline: (wanted) =>
      health.whenReady(() => readOrderTimeline((sql, params) => store.query(sql, params), wanted)),
    cascadeSafety: (wanted) => health.whenReady(() => cascadeSafety(wanted)),
    gateways: [...gateways.keys()],
    annotate: (row) => health.whenReady(() => (checkBackpressure(), write({ annotations: [row] }, {}))),
    now: clock.now,
  };
}
