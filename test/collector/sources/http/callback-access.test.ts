import { afterAll, beforeAll, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import { Secret } from '../../../../schemas/secret.ts';
import { post, startScene, type HttpScene } from '../../../support/http-scene.ts';

const SECRET = 'cGF0aC1zZWNyZXQtb2YtMTI4LWJpdHM';
let scene: HttpScene;
beforeAll(async () => (scene = await startScene({}, {}, { callbackPathSecret: new Secret(SECRET) })));
afterAll(() => scene.server.stop(100));

it('a callback is taken below the path secret, and handed on without it', async () => {
  for (const end of ['', '/'])
    expect((await post(`${scene.server.url}/callbacks/acme-eu/${SECRET}${end}`, '{}')).status).toBe(200);
  expect(JSON.stringify(scene.deliveries)).not.toContain(SECRET);
});

it.each([
  '',
  '/',
  `/${SECRET.slice(1)}`,
  `/${SECRET}x`,
  `/${SECRET.toLowerCase()}`,
  '/%00',
  '/[secret]',
  `?secret=${SECRET}`,
])('an address that ends in %j is none', async (end) => {
  const { received } = scene;
  const answer = await post(`${scene.server.url}/callbacks/acme-eu${end}`, '{}');
  expect([answer.status, scene.received]).toEqual([404, received]);
  expect(answer.text).not.toContain(SECRET.slice(1));
});

it('a gateway without path secret has no address below its own', async () => {
  const open = await startScene();
  expect((await post(`${open.server.url}/callbacks/acme-eu/${SECRET}`, '{}')).status).toBe(404);
  expect((await post(`${open.server.url}/callbacks/acme-eu`, '{}')).status).toBe(200);
  await open.server.stop(100);
});

it('the path secret is in no log, whatever fails behind it', async () => {
  scene.behind = async () => {
    throw new TypeError('broken');
  };
  expect((await post(`${scene.server.url}/callbacks/acme-eu/${SECRET}`, '{}')).status).toBe(500);
  scene.behind = async () => {
    throw new GatewatchError('away', { code: 'store_unavailable', retryable: true });
  };
  expect((await post(`${scene.server.url}/callbacks/acme-eu/${SECRET}`, '{}')).status).toBe(503);
  expect(scene.logged.length).toBeGreaterThan(0);
  expect(JSON.stringify(scene.logged)).not.toContain(SECRET);
});
