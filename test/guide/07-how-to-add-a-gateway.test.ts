import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { VariablesAnswer } from '../../schemas/console.ts';
import { entryOf, GATEWAY, runCommand, type Scene, sendCallback, startScene } from './support/scene.ts';

const NEW = 'acme-latam';

/**
 * HOW TO ADD A GATEWAY
 *
 * One collector watches as many gateways as its configuration lists. A new one takes four steps: write its
 * entry, have `gatewatch doctor` look at it, restart, and give the gateway the address for its callbacks.
 * Nothing else has to be set: dashboards, rules and the console find the gateway in the rows.
 *
 * The name is chosen once. It is a part of every identity: order, trace, row and alert.
 */
describe('how to add a gateway', () => {
  const poll = { delaysS: [0.5], maxDelayS: 0.5, rereadsS: [1] };
  let scene: Scene;
  let latam: Sandbox;
  beforeAll(async () => {
    latam = await createSandbox({ seed: NEW });
    scene = await startScene({ gateway: { poll } });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await latam.stop();
  });

  const europe = () => entryOf(scene.gateway, { poll });
  const fileWith = async (name: string, config: object): Promise<string> => {
    const file = path.join(scene.collector.folder, name);
    await writeFile(file, JSON.stringify({ dataDir: scene.collector.dataDir, ...config }));
    return file;
  };
  const callback = (gateway: string, externalId: string, key: string) =>
    sendCallback(`${scene.collector.intake}/callbacks/${gateway}`, { externalId }, key);
  const stored = (externalId: string) =>
    scene.query<{ gateway: string; status: string }>(
      `SELECT gateway, status FROM orders WHERE external_id = '${externalId}' AND status IS NOT NULL ORDER BY gateway`,
    );

  it('1. before: a gateway that is not in the configuration does not exist', async () => {
    expect(await callback(NEW, randomUUID(), latam.callbackKey)).toBe(404);
  });

  it('2. the entry: mistakes are reported all at once, and nothing starts half-way', async () => {
    const wrong = { name: 'Acme Latam', secureUrl: 'ftp://secure.example.com', callbackKeys: ['short'] };
    const file = await fileWith('wrong.yaml', { gateways: [europe(), wrong] });
    const { code, errors } = await runCommand('run', '--config', file);
    expect(code).toBe(2);
    for (const key of ['name', 'secureUrl', 'token', 'callbackKeys.0'])
      expect(errors).toContain(`gateways.1.${key}`);
    expect(errors).not.toContain('short');
  });

  it('3. the doctor asks the gateway before the collector does: is that the right token?', async () => {
    const findings = async (token: string) => {
      const entry = entryOf(latam, { name: NEW, token });
      const file = await fileWith('doctor.yaml', { gateways: [europe(), entry] });
      const { printed } = await runCommand('doctor', '--json', '--config', file);
      const all = (JSON.parse(printed) as { findings: { check: string; status: string; message: string }[] })
        .findings;
      return all.find(({ check }) => check === `gateway ${NEW}: status request`);
    };
    expect(await findings('a token of another merchant')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('the token is not accepted'),
    });
    expect(await findings(latam.token)).toMatchObject({ status: 'ok' });
  });

  it('4. the restart: SIGHUP renews secrets, and says that a new gateway needs more', async () => {
    const gateways = [europe(), entryOf(latam, { name: NEW, poll })];
    const { configFile, pid } = scene.collector;
    await writeFile(
      configFile,
      JSON.stringify({ dataDir: scene.collector.dataDir, http: { port: 0 }, gateways }),
    );
    process.kill(pid, 'SIGHUP');
    const reloaded = () => scene.collector.logged('secrets and certificates were read again');
    await expect.poll(reloaded).toMatchObject([{ needsRestart: true }]);
    expect(await callback(NEW, randomUUID(), latam.callbackKey)).toBe(404);
    expect(await scene.collector.stop()).toBe(0);
    await scene.startAgain({ gateways });
    expect(await callback(NEW, randomUUID(), latam.callbackKey)).toBe(200);
  });

  it('5. one id at two gateways is two orders', async () => {
    const externalId = randomUUID();
    scene.gateway.seedOrder({ externalId, status: 'Success' });
    latam.seedOrder({ externalId, status: 'Failed' });
    expect(await callback(GATEWAY, externalId, scene.gateway.callbackKey)).toBe(200);
    expect(await callback(NEW, externalId, latam.callbackKey)).toBe(200);
    await expect
      .poll(() => stored(externalId))
      .toEqual([
        { gateway: GATEWAY, status: 'Success' },
        { gateway: NEW, status: 'Failed' },
      ]);
  });

  it('6. each has keys of its own: what one signs proves nothing at the other', async () => {
    const externalId = randomUUID();
    expect(await callback(NEW, externalId, 'the key of quite another gateway')).toBe(200);
    const verdicts = `SELECT gateway, verdict FROM callbacks WHERE external_id = '${externalId}'`;
    expect(await scene.query(verdicts)).toEqual([{ gateway: NEW, verdict: 'mismatch' }]);
  });

  it('7. the trouble of one is not the trouble of the other', async () => {
    const { id } = latam.faults.add({ name: 'timeout', endpoint: 'status' });
    const [here, there] = [scene.gateway, latam].map((gateway) => gateway.seedOrder({}).externalId);
    await callback(NEW, there ?? '', latam.callbackKey);
    await callback(GATEWAY, here ?? '', scene.gateway.callbackKey);
    await expect.poll(() => stored(here ?? '')).toEqual([{ gateway: GATEWAY, status: 'Processing' }]);
    expect(await stored(there ?? '')).toEqual([]);
    latam.faults.remove(id);
  });

  it('8. dashboards and the console list it by themselves', async () => {
    const now = Date.now();
    const scope = { dashboard: 'gatewatch-overview', from: now - 3_600_000, to: now, variables: {} };
    const names = async () => {
      const reply = await fetch(`${scene.collector.http}/console/api/variables`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(scope),
      });
      const { options } = (await reply.json()) as VariablesAnswer;
      return options['gateway']?.map(({ value }) => value);
    };
    await expect.poll(names).toEqual(expect.arrayContaining([GATEWAY, NEW]));
  });

  it('9. on a server, its analysts get a role that sees its rows and no others', async () => {
    const roles = ['migrate', '--grants', '--dry-run', '--gateway', GATEWAY, '--gateway', NEW];
    const sql = await scene.gatewatch(...roles);
    expect(sql).toContain(`CREATE ROLE IF NOT EXISTS \`gatewatch_analyst_${NEW}\``);
    expect(sql).toMatch(
      new RegExp(`ROW POLICY .* ON .*\`history_events_store\` .* USING gateway = '${NEW}' TO`),
    );
  });
});
