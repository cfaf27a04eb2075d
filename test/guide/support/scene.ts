import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { TableResult } from '../../../store/store.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { signedCallback } from '../../integration/support/gateway.ts';
import {
  type CollectorProcess,
  type CollectorProcessOptions,
  type ConfigInput,
  MAIN,
  readerPassword,
  startCollectorProcess,
} from '../../support/collector-process.ts';

export type GatewayInput = ConfigInput['gateways'][number];

export interface SceneOptions {
  /** What the gateway's entry in the configuration says besides name, address and secrets. */
  readonly gateway?: Partial<GatewayInput>;
  /** What the configuration says besides the gateway. */
  readonly config?: Partial<ConfigInput>;
  /** Environment of the collector. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A gateway and a collector that watches it. The first chapter sets both up by hand and explains them; the
 * later ones start from here.
 */
export interface Scene extends AsyncDisposable {
  readonly gateway: Sandbox;
  /** The collector that runs at present. */
  readonly collector: CollectorProcess;
  /** Rows of a SELECT over the views, asked as an analyst asks. */
  query<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  /** The same with the types of its columns, as Grafana asks. */
  table(sql: string): Promise<TableResult>;
  /** "Read this order": what a merchant's own system says when it creates one. */
  watch(...externalIds: string[]): Promise<void>;
  /** A callback as the gateway would send it; signed with `key`. Resolves with the HTTP status. */
  sendCallback(fields: { externalId: string; status?: string }, key?: string): Promise<number>;
  /** A command of ours with this scene's configuration; resolves with what it printed. */
  gatewatch(...args: string[]): Promise<string>;
  /** Starts a collector on the same folder, with the configuration changed or as it was. */
  startAgain(config?: Partial<ConfigInput>): Promise<void>;
}

export const GATEWAY = 'acme-eu';

export async function startScene(options: SceneOptions = {}): Promise<Scene> {
  const gateway = await createSandbox();
  const run: CollectorProcessOptions = {
    config: { gateways: [entryOf(gateway, options.gateway)], ...options.config },
    ...(options.env === undefined ? {} : { env: options.env }),
  };
  let collector = await startCollectorProcess(run);
  return {
    gateway,
    get collector() {
      return collector;
    },
    query: (sql) => collector.query(sql),
    async table(sql) {
      const format = 'default_format=JSON&output_format_json_quote_64bit_integers=0';
      const password = readerPassword(collector.dataDir);
      const headers = { 'x-clickhouse-user': 'gatewatch_reader', 'x-clickhouse-key': password };
      const reply = await fetch(`${collector.store}/?${format}`, { method: 'POST', headers, body: sql });
      return (await reply.json()) as TableResult;
    },
    async watch(...externalIds) {
      const body = externalIds.map((externalId) => ({ gateway: GATEWAY, orderType: 'Deposit', externalId }));
      const reply = await fetch(`${collector.http}/orders`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(reply.status).toBe(202);
    },
    sendCallback: (fields, key = gateway.callbackKey) =>
      sendCallback(`${collector.intake}/callbacks/${GATEWAY}`, fields, key),
    gatewatch: (...args) => gatewatch(...args, '--config', collector.configFile),
    async startAgain(config = {}) {
      const { folder } = collector;
      collector = await startCollectorProcess({ ...run, config: { ...run.config, ...config }, folder });
    },
    async [Symbol.asyncDispose]() {
      await collector[Symbol.asyncDispose]();
      await gateway.stop();
    },
  };
}

/** A sandbox as an entry of the configuration. */
export const entryOf = (gateway: Sandbox, more: Partial<GatewayInput> = {}): GatewayInput => ({
  name: GATEWAY,
  secureUrl: gateway.secureUrl,
  token: gateway.token,
  callbackKeys: [gateway.callbackKey],
  ...more,
});

/** Posts a signed callback to this address. Resolves with the HTTP status. */
export async function sendCallback(
  url: string,
  fields: { externalId: string; status?: string },
  key: string,
): Promise<number> {
  const { body, signature } = signedCallback(fields, key);
  const headers = { 'Content-Type': 'application/json', Signature: signature };
  return (await fetch(url, { method: 'POST', body, headers })).status;
}

/** Runs a command of ours to its end. Resolves with what it printed; fails unless it ended with 0. */
export async function gatewatch(...args: string[]): Promise<string> {
  const { code, printed } = await runCommand(...args);
  expect(code).toBe(0);
  return printed;
}

/** Runs a command of ours to its end, whatever that is. */
export async function runCommand(
  ...args: string[]
): Promise<{ code: number | null; printed: string; errors: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, printed, errors };
}
