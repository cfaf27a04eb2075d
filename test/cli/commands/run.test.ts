import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import type { OrderTimeline } from '../../../schemas/order-timeline.ts';
import { cli, startCli, untilPrinted } from './support/cli.ts';
import { PATIENCE_MS } from '../../support/until.ts';

const ID = '1a2b3c4d-2222-4333-8444-5e6f7a8b9c0d';

// Each test starts processes with an engine in them.
let sandbox: Sandbox;
let dataDir: string;
let env: Record<string, string>;
let url: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  sandbox = await createSandbox({ token: 's3cret-token' });
  sandbox.seedOrder({
    externalId: ID,
    externalTransactionId: 'merchant-7',
    status: 'Failed',
    items: [
      { action: '1.1.1.00', offsetMs: -5000 },
      { action: '2.2.4.11', offsetMs: -4000 },
    ],
  });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  dataDir = mkdtempSync(join(tmpdir(), 'gatewatch-run-'));
  env = {
    GATEWATCH_GATEWAY_NAME: 'sandbox',
    GATEWATCH_GATEWAY_URL: sandbox.secureUrl,
    GATEWATCH_GATEWAY_TOKEN: 's3cret-token',
    GATEWATCH_CALLBACK_KEY: 's3cret-callback-key',
    GATEWATCH_DATA_DIR: dataDir,
    GATEWATCH_HTTP_PORT: String(port),
    GATEWATCH_EMBEDDED_PORT: '0',
  };
});
afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  child = undefined;
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts `run` and resolves when it is ready; collects its log. */
async function start(): Promise<{ log: () => string }> {
  child = startCli(['run'], { env });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await untilPrinted(child, 'stderr', /"running"/);
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
    timeout: PATIENCE_MS,
    interval: 100,
  });
  return { log: () => log };
}

async function stop(...signals: NodeJS.Signals[]): Promise<{ code: number | null; tookMs: number }> {
  const startedAt = performance.now();
  const ended = once(child as ChildProcess, 'exit');
  for (const signal of signals) child?.kill(signal);
  const [code] = (await ended) as [number | null];
  return { code, tookMs: performance.now() - startedAt };
}

describe('run', () => {
  test('collects what watch asks for, answers order and sql, and stops on SIGTERM', async () => {
    const { log } = await start();

    const watched = await cli(['watch', ID, '--channel', 'p2p', '--currency', 'EUR'], { env });
    expect(watched).toEqual({
      code: 0,
      stdout: `1 order taken by the collector at ${url}.\n`,
      stderr: '',
    });
    const timeline = await vi.waitFor(
      async () => {
        const { code, stdout } = await cli(['order', ID, '--json'], { env });
        expect(code).toBe(0);
        const parsed = JSON.parse(stdout) as OrderTimeline;
        expect(parsed.events).toHaveLength(2);
        return parsed;
      },
      { timeout: PATIENCE_MS, interval: 200 },
    );
    expect(timeline.order).toMatchObject({
      gateway: 'sandbox',
      externalId: ID,
      externalTransactionId: 'merchant-7',
      status: 'Failed',
      outcome: 'technical_failure',
      channel: 'p2p',
    });
    const counted = await cli(['sql', 'SELECT count() FROM history_events'], { env });
    expect(counted.stdout).toBe('2\n');

    const refused = await cli(['watch', ID, '--gateway', 'nowhere'], { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`The collector at ${url} refuses: `);
    const unknown = await cli(['order', 'nowhere'], { env });
    expect(unknown.code).toBe(1);

    const { code, tookMs } = await stop('SIGTERM');
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(10_000);
    for (const line of log().trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(log()).not.toContain('s3cret');
  });

  test('keeps what it had: order reads the store once the collector is gone', async () => {
    const { code, stdout } = await cli(['order', ID], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('TECH.TIMEOUT (11)');
  });

  test('ends at once on a second signal, whatever is under way', async () => {
    const fault = sandbox.faults.add({ name: 'timeout', endpoint: 'status' });
    const { log } = await start();
    await cli(['watch', 'never-answered'], { env });
    await vi.waitFor(() => expect(sandbox.faults.list()[0]?.applied).toBeGreaterThan(0), {
      timeout: PATIENCE_MS,
    });
    child?.kill('SIGINT');
    await vi.waitFor(() => expect(log()).toContain('a second signal stops at once'), {
      timeout: PATIENCE_MS,
    });
    const { code, tookMs } = await stop('SIGINT');
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(2000);
    sandbox.faults.remove(fault.id);
  });

  test.each(['run', 'store'])(
    'Ctrl-C ends %s at once while it waits for a held data folder',
    async (command) => {
      const owner = startCli(['store', '--port', '0'], { env });
      await untilPrinted(owner, 'stdout', /Ctrl-C/);
      // Who owns the folder is not to be found, as when its process is about to end.
      rmSync(join(dataDir, 'embedded.json'));
      child = startCli(command === 'store' ? ['store', '--port', '0'] : [command], { env });
      await untilPrinted(child, 'stderr', /waiting for process \d+ to release the data folder/);
      const { code, tookMs } = await stop('SIGINT');
      owner.kill('SIGKILL');
      await once(owner, 'exit');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(2000);
    },
  );

  test('fails when its port is taken, and says which', async () => {
    const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
    await once(other, 'listening');
    const { code, stderr } = await cli(['run'], { env });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(new URL(url).port);
    expect(stderr).not.toContain('s3cret');
  });
});

describe('watch without a collector', () => {
  test('and without Kafka says how to start one', async () => {
    const { code, stdout, stderr } = await cli(['watch', ID], { env });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`No collector answers at ${url}`);
    expect(stderr).toContain('gatewatch run');
  });

  test('says what is wrong with the brokers when there is Kafka', async () => {
    const { code, stderr } = await cli(['watch', ID], {
      env: { ...env, GATEWATCH_KAFKA_BROKERS: '127.0.0.1:1' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('Kafka at 127.0.0.1:1 cannot be reached');
  });
});
