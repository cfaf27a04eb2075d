import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAlertmanager } from '../../../alerts/notify/alertmanager.ts';
import type { LoadedConfig } from '../../../schemas/config.ts';
import { kafkaConnection } from '../../../collector/sources/kafka/options.ts';
import { renewSecrets } from '../../../collector/config/renew-secrets.ts';
import { configSchema } from '../../../schemas/config.ts';

const load = (suffix: string, more: Record<string, unknown> = {}): LoadedConfig => ({
  ...configSchema.parse({
    gateways: [
      {
        name: 'acme',
        secureUrl: 'https://gateway.example',
        token: `token${suffix}`,
        callbackKeys: [`the callback key${suffix}`],
        callbackPathSecret: `the-path-secret-of-acme${suffix}`,
      },
    ],
    kafka: { brokers: ['one:9092'], sasl: { mechanism: 'plain', username: 'me', password: `sasl${suffix}` } },
    clickhouse: { url: 'http://clickhouse:8123', password: `password${suffix}` },
    alerts: { alertmanager: { url: 'http://alertmanager:9093', token: `alerts${suffix}` } },
    ...more,
  }),
  collectorId: 'c1',
  origin: 'a test',
});
const mapOf = (config: LoadedConfig) => new Map(config.gateways.map((gateway) => [gateway.name, gateway]));

describe('secrets that are read again', () => {
  it('are seen by all who hold them, and are logged by name only', () => {
    const config = load('-1');
    const gateways = mapOf(config);
    const sasl = kafkaConnection(config.kafka!).sasl as unknown as { password: string };
    expect(renewSecrets(config, load('-2'), gateways)).toEqual({
      renewed: [
        'kafka.sasl.password',
        'clickhouse.password',
        'alerts.alertmanager.token',
        'gateways.acme.token',
        'gateways.acme.callbackKeys',
        'gateways.acme.callbackPathSecret',
      ],
      needsRestart: false,
    });
    expect(sasl.password).toBe('sasl-2');
    expect(config.clickhouse?.password.reveal()).toBe('password-2');
    expect(config.gateways[0]?.token.reveal()).toBe('token-2');
    expect(gateways.get('acme')?.callbackKeys.map((key) => key.reveal())).toEqual(['the callback key-2']);
    expect(gateways.get('acme')?.callbackPathSecret?.reveal()).toBe('the-path-secret-of-acme-2');
    expect(renewSecrets(config, load('-2'), gateways)).toEqual({ renewed: [], needsRestart: false });
  });

  it('say so when something changed that only a restart can follow', () => {
    const config = load('-1');
    const fresh = load('-1', { retention: { historyDays: 10 } });
    expect(renewSecrets(config, fresh, mapOf(config))).toEqual({ renewed: [], needsRestart: true });
  });

  it('reach what is sent to an Alertmanager', async () => {
    const config = load('-1');
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const target = createAlertmanager({ ...config.alerts.alertmanager!, url });
    const alert = {
      fingerprint: 'a',
      status: 'firing',
      labels: {},
      annotations: {},
      startsAt: new Date(0),
      endsAt: new Date(0),
      generatorUrl: '',
    };
    await target.send([alert as never], 0);
    renewSecrets(config, load('-2'), mapOf(config));
    await target.send([alert as never], 0);
    expect(seen).toEqual(['Bearer alerts-1', 'Bearer alerts-2']);
    server.close();
  });
});
