import type { LoadedConfig } from '../schemas/config.ts';
import { withDeadline } from '../schemas/deadline.ts';
import { logEvents } from '../store/embedded/events.ts';
import { openStore } from '../store/open.ts';
import type { Ending } from './lifecycle.ts';
import { createBase, DRAIN_MS, type CollectorDeps } from './parts/base.ts';
import { begin } from './parts/begin.ts';
import { connectKafka } from './parts/kafka.ts';
import { listen } from './parts/listeners.ts';
import { connectOrders } from './parts/orders.ts';
import { reload } from './parts/reload.ts';
import { startSinks } from './parts/sinks.ts';

export interface Collector {
  /**
   * Uses the secrets and certificates of a configuration that was read again; other settings hold from the
   * next start.
   * @throws GatewatchError `config_invalid`, and nothing has changed
   */
  reload(fresh: LoadedConfig): void;
  readonly addresses: { readonly http: string; readonly intake: string; readonly store: string };
  /** Stops sources first, drains what was taken in, then the sinks. Bounded; safe to repeat. */
  stop(reason: string): Promise<void>;
  /** Resolves when the collector is at its end, with the exit code its process should have. */
  readonly done: Promise<Ending>;
}

/** For requests that the engine still works on. */
const ENGINE_STOP_MS = 2_500;

/**
 * The whole topology: sources -> decode -> orders -> sinks. Sinks start first, and everything stops in
 * reverse. A store, broker or gateway that is merely away is waited for.
 * @throws GatewatchError or EmbeddedStoreError when the configuration cannot work
 */
export async function startCollector(config: LoadedConfig, deps: CollectorDeps): Promise<Collector> {
  const base = createBase(config, deps);
  const { life, log } = base;
  try {
    const opened = await openStore(config, {
      embedded: 'serve',
      stopTimeoutMs: ENGINE_STOP_MS,
      log: logEvents(log),
    });
    life.onStop(() => opened.close());
    void opened.embedded?.down.then((error) => life.fail(error.message));

    const sinks = startSinks(base, opened);
    const orders = connectOrders(base, opened, sinks);
    const kafka = await connectKafka(base, opened, sinks, orders);
    // Together: while the store is away, all of them wait for it.
    life.onStop(() => withDeadline(Promise.all([orders.stop(), kafka?.stop()]), DRAIN_MS));
    const listeners = await listen(base, opened, sinks, orders, kafka);

    void begin(base, opened, sinks, orders, kafka, listeners).catch((error: unknown) =>
      life.fail((error as Error).message),
    );
    return {
      addresses: { http: listeners.http, intake: listeners.intake, store: opened.store.url },
      reload: (fresh) => reload(base, listeners, fresh),
      stop: life.stop,
      done: life.done,
    };
  } catch (error) {
    await life.stop('start failed', 1);
    throw error;
  }
}
