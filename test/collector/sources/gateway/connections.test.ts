import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { proxyFor, proxyFromEnvironment } from '../../../../collector/sources/gateway/connections.ts';
import { createStatusClient } from '../../../../collector/sources/gateway/status-client.ts';
import { gatewayConfigSchema } from '../../../../schemas/config.ts';
import { startHttpGateway, type HttpGateway } from '../../../support/http-gateway.ts';
import { startHttpProxy, type TestProxy } from '../../../support/http-proxy.ts';
import { watchedOrder } from '../../../support/watched-order.ts';

let gateway: HttpGateway;
let proxy: TestProxy;
beforeAll(async () => {
  gateway = await startHttpGateway((_request, response) => response.end('{"orderStatus":"Success"}'));
  proxy = await startHttpProxy(() => gateway.port);
});
afterAll(async () => {
  await proxy.stop();
  await gateway.stop();
});
beforeEach(() => proxy.asked.splice(0));

const read = async (secureUrl: string, env: Record<string, string>) => {
  const config = gatewayConfigSchema.parse({
    name: 'acme-eu',
    token: 'a-token',
    secureUrl,
    poll: { deadlineMs: 2000 },
  });
  const client = createStatusClient(config, proxyFromEnvironment(env));
  const reply = await client.read(watchedOrder());
  await client.close();
  return reply;
};

it.each(['HTTP_PROXY', 'http_proxy'])('status requests leave through the proxy of %s', async (name) => {
  const reply = await read('http://gateway.example', { [name]: `http://127.0.0.1:${proxy.port}` });
  expect(reply).toMatchObject({ outcome: 'ok', body: '{"orderStatus":"Success"}' });
  expect(proxy.asked).toEqual(['GET http://gateway.example/api/v1/integration/deposit-order/order-1/status']);
});

it('requests to this machine, and to what NO_PROXY names, do not', async () => {
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  expect(await read(gateway.url, env)).toMatchObject({ outcome: 'ok' });
  const named = { ...env, NO_PROXY: 'gateway.invalid' };
  expect(await read('http://gateway.invalid', named)).toMatchObject({ outcome: 'unknown', errorType: 'dns' });
  expect(proxy.asked).toEqual([]);
});

it('an https gateway has the proxy of HTTPS_PROXY', () => {
  const env = proxyFromEnvironment({ HTTPS_PROXY: 'http://proxy.example:3128', HTTP_PROXY: '' });
  expect(proxyFor(new URL('https://gateway.example'), env)?.httpsProxy).toBe('http://proxy.example:3128');
  expect(proxyFor(new URL('http://gateway.example'), env)).toBeNull();
});
