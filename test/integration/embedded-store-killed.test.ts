import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { until } from '../support/until.ts';
import { historyOfGateway, historyOfView, untilSettled } from './support/gateway-account.ts';
import { gatewayConfig, UNTIL_ANSWERED } from './support/gateway.ts';

const POLL = { delaysS: [0.5, 1], maxDelayS: 2, jitter: 0, rereadsS: [0.5, 2], mergeCallbacksMs: 100 };

describe('a collector whose embedded ClickHouse is killed', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    sandbox = await createSandbox({
      seed: 'child',
      speed: 100,
      lateShare: 0,
      callbacks: { url: `${url}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
      watchUrl: `${url}/orders`,
    });
    collector = await startCollectorProcess({
      config: { gateways: [gatewayConfig(sandbox, { poll: POLL })], http: { port } },
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  it('starts it again and goes on: nothing is lost, nothing is doubled', async () => {
    sandbox.setRate(8);
    for (const round of [1, 2]) {
      const stored = async () =>
        (await collector.query<{ n: number }>('SELECT count() AS n FROM polls'))[0]?.n ?? 0;
      await until('polls', stored, (count) => count > round * 10);
      process.kill(engineOf(collector.pid), 'SIGKILL');
      await until(
        'a new engine',
        () => isAnswering(collector.store),
        (answers) => answers,
      );
    }
    sandbox.setRate(0);
    await untilSettled(sandbox, collector);
    expect(await historyOfView(collector)).toEqual(historyOfGateway(sandbox, 'sandbox'));
    const [callbacks] = await collector.query<{ deliveries: number }>(
      'SELECT sum(deliveries) AS deliveries FROM callbacks',
    );
    expect(callbacks?.deliveries).toBeGreaterThanOrEqual(sandbox.stats().callbacks.acknowledged);
  });

  it('stops within 10 seconds and with exit code 0 when asked to, in the middle of its work', async () => {
    sandbox.setRate(8);
    const { created } = sandbox.stats().orders;
    await until(
      'new orders',
      () => sandbox.stats().orders.created,
      (count) => count > created + 5,
    );
    const startedMs = performance.now();
    expect(await collector.stop()).toBe(0);
    const elapsedMs = performance.now() - startedMs;
    console.log(`stopped in ${Math.round(elapsedMs)} ms while at work`);
    expect(elapsedMs).toBeLessThan(10_000);
  });
});

/** The pid of the process that holds the engine: the collector's only child. */
function engineOf(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '),
  );
  const engine = children.find((child) => child !== '');
  if (engine === undefined) throw new Error('the collector has no child process');
  return Number(engine);
}

async function isAnswering(store: string): Promise<boolean> {
  return fetch(`${store}/ping`, { signal: AbortSignal.timeout(1000) }).then(
    (reply) => reply.ok,
    () => false,
  );
}
