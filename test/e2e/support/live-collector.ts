import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { panelId } from '../../../dashboards/house/ids.ts';
import { DASHBOARDS } from '../../../dashboards/uids.ts';
import { startCollectorProcess, type CollectorProcess } from '../../support/collector-process.ts';
import { freePort } from '../../support/kafka-process.ts';

/** A collector that reads a gateway in trouble. */
export interface LiveCollector {
  readonly url: string;
  readonly collector: CollectorProcess;
  stop(): Promise<void>;
}

/**
 * Runs a few seconds of traffic through the real parts: half of the new orders time out at the gateway, a
 * third of the callbacks are signed wrongly. Resolves when the dashboards count it, which they do for what is
 * older than their lag.
 */
export async function startLiveCollector(): Promise<LiveCollector> {
  const port = await freePort();
  const sandbox: Sandbox = await createSandbox({
    seed: 'e2e',
    speed: 40,
    ratePerSecond: 8,
    callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox` },
    watchUrl: `http://127.0.0.1:${port}/orders`,
  });
  const collector = await startCollectorProcess({
    config: {
      collectorId: 'e2e',
      gateways: [
        {
          name: 'sandbox',
          secureUrl: sandbox.secureUrl,
          token: sandbox.token,
          callbackKeys: [sandbox.callbackKey],
          poll: { delaysS: [1, 2, 4], maxDelayS: 10, rereadsS: [2, 4] },
        },
      ],
      http: { port },
    },
  });
  sandbox.incidents.start({ name: 'tech_timeout', share: 0.5 });
  sandbox.faults.add({ name: 'callback_wrong_signature', probability: 0.35 });
  sandbox.faults.add({ name: 'unknown_code', probability: 0.05 });
  sandbox.start();
  try {
    await untilCounted(collector);
    sandbox.setRate(0);
  } catch (error) {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
    throw error;
  }
  return {
    url: collector.http,
    collector,
    async stop() {
      await sandbox.stop();
      await collector[Symbol.asyncDispose]();
    },
  };
}

const ENOUGH = 30;
const DEADLINE_MS = 150_000;

/** Asks the panel itself: how many of the finished orders it counts as failures. */
async function untilCounted(collector: CollectorProcess): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const [share = null, finished = null] = await askPanel(collector, 'technical-success');
    const failed = share === null || finished === null ? 0 : Math.round(finished * (1 - share));
    if (failed >= ENOUGH) return;
    if (Date.now() > deadline)
      throw new Error(`only ${failed} orders have failed:\n${collector.output().slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The first row of what a panel of the overview shows. */
async function askPanel({ http }: CollectorProcess, key: string): Promise<(number | null)[]> {
  const [from, to] = [Date.now() - 900_000, Date.now()];
  const scope = { dashboard: DASHBOARDS.overview.uid, from, to, variables: {} };
  const response = await fetch(`${http}/console/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...scope, panel: panelId(key), maxDataPoints: 100 }),
  });
  const { frames = [] } = (await response.json()) as {
    frames?: { columns: { values: (number | null)[] }[] }[];
  };
  return (frames[0]?.columns ?? []).map(({ values }) => values[0] ?? null);
}
