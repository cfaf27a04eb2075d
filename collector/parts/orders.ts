import type { GatewayConfig } from '../../schemas/config.ts';
import type { OpenedStore } from '../../store/open.ts';
import { readOrderRecord } from '../../store/order-record.ts';
import { orderSpanOf } from '../decode/ids.ts';
import { createCascadeSafety, type CascadeSafety } from '../orders/cascade-safety.ts';
import { createOrders, type Orders } from '../orders/orders.ts';
import { createWatchStore } from '../orders/watch-store.ts';
import { proxyFromEnvironment } from '../sources/gateway/connections.ts';
import { createStatusClient } from '../sources/gateway/status-client.ts';
import { tracedReader } from '../telemetry/traced-ports.ts';
import type { Base } from './base.ts';
import type { Sinks } from './sinks.ts';

/** What is known of orders, and the status requests that it asks for. */
export function connectOrders(
  { config, collectorId, gateways, env, log, clock, stamp, life, instruments }: Base,
  { store }: OpenedStore,
  { write, checkBackpressure }: Sinks,
): Orders {
  const proxy = proxyFromEnvironment(env);
  return createOrders({
    collectorId,
    historyDays: config.retention.historyDays,
    gateways,
    clock,
    stamp,
    reader: tracedReader((gateway: GatewayConfig) => createStatusClient(gateway, proxy), orderSpanOf),
    watchStore: createWatchStore((sql, params) => store.query(sql, params)),
    write,
    checkBackpressure,
    isShared: config.kafka !== undefined,
    instruments,
    log,
    signal: life.signal,
  });
}

/** Whether an order may go to another provider: what the gateway says now, and what is known. */
export function connectCascadeSafety(base: Base, { store }: OpenedStore, orders: Orders): CascadeSafety {
  const { config, gateways, clock, instruments, log } = base;
  return createCascadeSafety({
    gateways,
    deadlineMs: config.cascadeSafety.deadlineMs,
    clock,
    ask: orders.ask,
    tracked: orders.tracked,
    lookUp: (wanted) => readOrderRecord((sql, params) => store.query(sql, params), wanted),
    onNews: (order) =>
      void orders
        .readSoon(order)
        .catch((error: unknown) => log.debug({ err: error }, 'an order with news could not be opened again')),
    instruments,
  });
}
