import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../operate/doctor/check.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { cli } from '../cli/commands/support/cli.ts';
import { type ConfigInput, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { hasOpenssl, LOGIN, type SecureKafka, startSecureKafka } from '../support/kafka-secure.ts';
import { createTopic, produce, uniqueName } from '../support/kafka-topics.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';

const shared = await useKafka();
// Certificates and listeners of its own: the broker that `KAFKA_BROKERS` names has others.
const canStartOne = shared.available && shared.jars !== undefined && (await hasOpenssl());

type KafkaSettings = NonNullable<ConfigInput['kafka']>;

describe.skipIf(!canStartOne)('a broker that speaks TLS with a private authority', () => {
  let folder: string;
  let sandbox: Sandbox;
  let kafka: SecureKafka;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-tls-'));
    sandbox = await createSandbox();
    kafka = await startSecureKafka(folder);
  });
  afterAll(async () => {
    await kafka?.stop();
    await sandbox?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const trusted = () => ({ ca: `\${file:${kafka.files.ca}}` });
  const login = (mechanism: string) => ({ mechanism, ...LOGIN });
  type Way = readonly [name: string, settings: () => Pick<KafkaSettings, 'brokers' | 'ssl' | 'sasl'>];
  const ways: readonly Way[] = [
    ...['plain', 'scram-sha-256', 'scram-sha-512'].map((mechanism): Way => [
      mechanism,
      () => ({ brokers: [kafka.saslSsl], ssl: trusted(), sasl: login(mechanism) }),
    ]),
    [
      'a certificate of the client',
      () => {
        const { clientCert, clientKey } = kafka.files;
        const own = { cert: `\${file:${clientCert}}`, key: `\${file:${clientKey}}` };
        return { brokers: [kafka.mutual], ssl: { ...trusted(), ...own } };
      },
    ],
  ];

  it.each(ways)('is read from and written to with %s', async (_name, settings) => {
    const topic = await createTopic([kafka.open], uniqueName('callbacks'));
    const watchTopic = await createTopic([kafka.open], uniqueName('orders'));
    await using collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox)],
        kafka: { ...settings(), groupId: uniqueName('group'), callbackTopics: [topic], watchTopic },
      },
    });
    const [consumed, taken] = [randomUUID(), randomUUID()];
    const first = signedCallback({ externalId: consumed }, sandbox.callbackKey);
    await produce([kafka.open], topic, [
      { key: consumed, value: first.body, headers: { Signature: first.signature } },
    ]);
    // Our own intake writes to the broker, from where the collector reads it again.
    const second = signedCallback({ externalId: taken }, sandbox.callbackKey);
    const reply = await fetch(`${collector.intake}/callbacks/sandbox`, {
      method: 'POST',
      body: second.body,
      headers: { Signature: second.signature },
    });
    expect(reply.status).toBe(200);
    const rows = () =>
      collector.query('SELECT external_id, verdict, source FROM callbacks ORDER BY external_id');
    const both = [consumed, taken]
      .toSorted()
      .map((external_id) => ({ external_id, verdict: 'valid', source: 'kafka' }));
    await expect.poll(rows).toEqual(both);
    expect(collector.output()).not.toContain(LOGIN.password);
    expect(await collector.stop()).toBe(0);
  });

  const doctor = async (settings: KafkaSettings): Promise<Finding | undefined> => {
    const file = path.join(folder, 'doctor.yaml');
    const config: ConfigInput = {
      gateways: [gatewayConfig(sandbox)],
      kafka: settings,
      http: { port: 1 },
      embedded: { port: 0 },
      dataDir: path.join(folder, 'data'),
    };
    await writeFile(file, JSON.stringify(config));
    const { stdout } = await cli(['doctor', '--json', '--config', file]);
    expect(stdout).not.toContain(LOGIN.password);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings.find(({ check }) => check === 'kafka: brokers');
  };

  it('is found to answer by doctor', async () => {
    const finding = await doctor({ brokers: [kafka.saslSsl], ssl: trusted(), sasl: login('scram-sha-512') });
    expect(finding?.status).toBe('ok');
  });

  it('is distinguished from one that cannot be trusted, refuses the password, or asks for a certificate', async () => {
    const untrusted = await doctor({ brokers: [kafka.saslSsl], ssl: true, sasl: login('plain') });
    expect(untrusted?.message).toMatch(/the TLS handshake failed \(.*certificate.* Check kafka\.ssl/);
    const sasl = { ...login('scram-sha-256'), password: 'another' };
    const refused = await doctor({ brokers: [kafka.saslSsl], ssl: trusted(), sasl });
    expect(refused?.message).toContain('refuses these credentials');
    const nobody = await doctor({ brokers: [kafka.mutual], ssl: trusted() });
    expect(nobody?.message).toMatch(/the TLS handshake failed \(.*(bad certificate|certificate required)/);
  });
});
