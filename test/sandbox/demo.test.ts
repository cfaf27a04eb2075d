import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Summary } from '../../sandbox/demo/summary.ts';
import { MAIN } from '../support/collector-process.ts';

const DEMO = fileURLToPath(new URL('../../sandbox/demo.ts', import.meta.url));
const SECONDS = 25;

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of our programs with this Node, to its end. */
async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

describe('the demo', () => {
  let folder: string;
  let taken: Server[];
  let ports: number[];
  let demo: Result;
  let summary: Summary;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-demo-'));
    taken = [createServer(), createServer()];
    ports = [];
    for (const server of taken) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      ports.push((server.address() as { port: number }).port);
    }
    const [port = 0, storePort = 0] = ports;
    const dataDir = path.join(folder, 'demo');
    const seconds = ['--seconds', String(SECONDS), '--json', '--data-dir', dataDir];
    demo = await run([DEMO, ...seconds, '--port', String(port), '--store-port', String(storePort)]);
    summary = JSON.parse(demo.stdout || '{}') as Summary;
  });
  afterAll(async () => {
    for (const server of taken) server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const sql = async (statement: string): Promise<Record<string, unknown> | undefined> => {
    const env = { GATEWATCH_CONFIG: path.join(folder, 'demo', 'gatewatch.yaml') };
    const { code, stdout, stderr } = await run([MAIN, 'sql', statement, '--json'], env);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  it('ends by itself with code 0, and finds that the gateway and the views agree', () => {
    expect(demo.stderr).not.toContain('The demo failed');
    expect(summary.disagreements).toEqual([]);
    expect(demo.code).toBe(0);
  });

  it('prints nothing but one JSON object on stdout, and takes its time', () => {
    expect(demo.stdout.trim().split('\n')).toHaveLength(1);
    expect(summary.seconds).toBeGreaterThanOrEqual(SECONDS);
  });

  it('shows a gateway at work, and an incident', () => {
    expect(summary.orders.created).toBeGreaterThan(20);
    expect(summary.orders.technicalFailures).toBeGreaterThan(0);
    expect(summary.historyEvents.stored).toBeGreaterThan(summary.orders.created);
    expect(summary.callbacks.mismatches).toBeGreaterThan(0);
    expect(summary.spans.received).toBe(summary.spans.expected);
    expect(demo.stderr).toContain('INCIDENT');
  });

  it('ends no sooner than the alert rules have seen the incident, and shows what they saw', () => {
    const seen = summary.alerts.find(({ rule }) => rule === 'GatewatchTechTimeouts');
    expect(seen).toMatchObject({ labels: { gateway: 'sandbox' }, numbers: { breach: true } });
    // A sign of life is no alert.
    expect(summary.alerts.map(({ rule }) => rule)).not.toContain('GatewatchHeartbeat');
  });

  it('notes the incident on the dashboards', async () => {
    expect(await sql('SELECT title, ends_at > starts_at AS lasts FROM annotations')).toEqual({
      title: 'Incident',
      lasts: 1,
    });
  });

  it('shows the numbers that a SELECT over the views gives afterwards', async () => {
    const row = await sql(`SELECT
      (SELECT count() FROM orders) AS orders,
      (SELECT countIf(settled_at IS NOT NULL) FROM orders) AS settled,
      (SELECT countIf(outcome = 'technical_failure') FROM orders) AS failures,
      (SELECT count() FROM polls) AS polls,
      (SELECT count() FROM callbacks) AS callbacks,
      (SELECT sum(deliveries) FROM callbacks) AS deliveries,
      (SELECT countIf(verdict = 'mismatch') FROM callbacks) AS mismatches,
      (SELECT count() FROM history_events) AS history,
      (SELECT countIf(code_format != 'v2') FROM history_events) AS undecoded,
      (SELECT count() FROM rejects) AS rejects`);
    expect(row).toEqual({
      orders: summary.orders.created,
      settled: summary.orders.settled,
      failures: summary.orders.technicalFailures,
      polls: summary.polls.answered,
      callbacks: summary.callbacks.distinct,
      deliveries: summary.callbacks.deliveries,
      mismatches: summary.callbacks.mismatches,
      history: summary.historyEvents.stored,
      undecoded: summary.historyEvents.undecoded,
      rejects: summary.rejects,
    });
  });

  it('takes other ports when its own are taken, and says which', () => {
    const addresses = [...demo.stderr.matchAll(/(?:collector|ClickHouse) +http:\/\/127\.0\.0\.1:(\d+)/g)];
    expect(addresses).toHaveLength(2);
    for (const [, port] of addresses) expect(ports).not.toContain(Number(port));
  });

  it('leaves no secret in its log or its summary', async () => {
    const log = await readFile(path.join(folder, 'demo', 'collector.log'), 'utf8');
    expect(log).toContain('"msg":"stopped"');
    for (const name of ['token', 'callback-key']) {
      const secret = await readFile(path.join(folder, 'demo', name), 'utf8');
      expect(`${log}${demo.stdout}${demo.stderr}`).not.toContain(secret);
    }
  });

  it('says how it is used when it is used wrongly', async () => {
    const wrong = await run([DEMO, '--seconds', 'soon']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--seconds');
  });
});
