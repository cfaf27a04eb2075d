import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TIMED_OUT, traffic } from '../../alerts/traffic.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { cli } from './support/cli.ts';

const now = Date.now();
const [ORDER] = traffic({ gateway: 'acme-eu', orders: 1, from: now - 600_000, to: now - 540_000, codes: () => TIMED_OUT }); // prettier-ignore
const id = ORDER?.externalId ?? '';

let folder: string;
let file: string;
let store: SeededStore;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-explain-order-'));
  store = await startSeededStore();
  file = join(folder, 'store.yaml');
  writeFileSync(file, JSON.stringify({ clickhouse: store.connection }));
  await store.seed({
    orders: ORDER === undefined ? [] : [ORDER],
    replies: [
      {
        gateway: 'acme-eu',
        externalId: id,
        observedAt: now - 530_000,
        status: 'Failed',
        outcome: 'technical_failure',
        amount: '10',
        currency: 'EUR',
      },
    ],
  });
});
afterAll(async () => {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});
const explain = (...more: string[]) => cli(['explain-order', '--config', file, ...more]);

it('shows where an order counts, and where it does not and why', async () => {
  const { code, stdout } = await explain(id);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Deposit ${id} at acme-eu; panels show its history until \\d{4}-`));
  expect(stdout).toMatch(
    /^technical success +in the total only +\S+ \S+ +its outcome is technical_failure$/m,
  );
  expect(stdout).toMatch(
    /^GatewatchTechTimeouts GATEWAY_CREATE +affected +\S+ \S+ +none kept +one of the orders that timed out/m,
  );
  expect(stdout).toMatch(
    /^GatewatchSignatureMismatches +none of its items is stage IN \('GATEWAY_CALLBACK'\)$/m,
  );
});

it('gives all of it as one JSON object', async () => {
  const { code, stdout } = await explain(id, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    order: { gateway: 'acme-eu', orderType: 'Deposit', externalId: id },
    measures: expect.arrayContaining([expect.objectContaining({ measure: 'approval', counts: 'no' })]),
    rules: expect.arrayContaining([
      expect.objectContaining({ rule: 'GatewatchTechTimeouts', label: 'CHECK', counts: 'no' }),
    ]),
  });
});

it('ends with 1 for an order that nobody knows, and with 2 without an id', async () => {
  const unknown = await explain('never-heard-of');
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain('Nothing is known of an order never-heard-of.');
  expect((await explain('')).code).toBe(2);
});
