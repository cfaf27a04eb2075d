import type { OpenedStore } from '../../store/open.ts';
import type { Orders } from '../orders/orders.ts';
import { createCallbackAccess } from '../sources/http/callback-access.ts';
import { createRefusals } from '../sources/http/guard.ts';
import { startListeners, type Listeners } from '../sources/http/listeners.ts';
import type { KafkaInput } from '../sources/kafka/input.ts';
import { createApi } from './api.ts';
import type { Base } from './base.ts';
import { openConsole } from './console.ts';
import { createIntake } from './intake.ts';
import type { Sinks } from './sinks.ts';

/** The collector's own interface, the intake of callbacks and the console. */
export async function listen(
  base: Base,
  opened: OpenedStore,
  sinks: Sinks,
  orders: Orders,
  kafka: KafkaInput | null,
): Promise<Listeners> {
  const { config, gateways, log, clock, life, instruments } = base;
  const console = openConsole(base, opened);
  const listeners = await startListeners(config.http, {
    api: {
      ...createApi(base, opened, sinks, orders, kafka),
      landing: console.site?.landing ?? null,
    },
    intake: createIntake(base, orders, kafka),
    console: console.site?.addRoutes ?? null,
    access: createCallbackAccess(gateways),
    onRefused: createRefusals(log, (reason) => instruments.refused.add(1, { reason }), clock.monotonicMs),
    log,
  });
  life.onStop(() => listeners.stop(1_000));
  return listeners;
}
