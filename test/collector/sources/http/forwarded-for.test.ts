import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forwardedAddresses } from '../../../../collector/sources/http/forwarded-for.ts';
import { httpConfigSchema } from '../../../../schemas/config-http.ts';
import { post, startScene } from '../../../support/http-scene.ts';

const GATEWAY = '203.0.113.7';
const LIMITS = httpConfigSchema.parse({}).limits;

describe('the addresses of X-Forwarded-For', () => {
  it.each([
    ['203.0.113.7', ['203.0.113.7']],
    ['203.0.113.7:51008', ['203.0.113.7']],
    ['"203.0.113.7:51008"', ['203.0.113.7']],
    ['2001:db8::7', ['2001:db8::7']],
    ['[2001:db8::7]', ['2001:db8::7']],
    ['"[2001:db8::7]:4711"', ['2001:db8::7']],
    ['198.51.100.1, 203.0.113.7:1,10.0.0.1', ['198.51.100.1', '203.0.113.7', '10.0.0.1']],
    ['203.0.113.7, unknown, 10.0.0.1', ['10.0.0.1']],
    ['203.0.113.7, _hidden', []],
    ['203.0.113.7:port', []],
    ['', []],
  ])('of %s are %j', (header, addresses) => expect(forwardedAddresses(header)).toEqual(addresses));

  it('are addresses alone, whatever the header holds', () => {
    const hop = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom('"', '[', ']:', ',', ' '));
    fc.assert(
      fc.property(fc.array(hop), (hops) => {
        for (const address of forwardedAddresses(hops.join(',')))
          expect(address).toMatch(/^[\d.]+$|^[\da-f:.]+$/i);
      }),
    );
  });
});

describe('a callback through a proxy that writes ports', () => {
  it('is taken from the gateway, and counted as one sender whatever the port', async () => {
    const scene = await startScene(
      {},
      { trustedProxies: ['127.0.0.1'], limits: { ...LIMITS, requestsPerSecond: 1 } },
      { callbackAddresses: [GATEWAY] },
    );
    const url = `${scene.server.url}/callbacks/acme-eu`;
    const from = async (forwarded: string): Promise<number> =>
      (await post(url, '{}', { 'x-forwarded-for': forwarded })).status;
    expect(await from(`${GATEWAY}:51008`)).toBe(200);
    expect(await from(`"${GATEWAY}:51008"`)).toBe(200);
    expect(await from('198.51.100.1:1')).toBe(403);
    // A stranger's own words before the proxy's, and a hop that nobody can name.
    expect(await from(`${GATEWAY}, 198.51.100.1:2`)).toBe(403);
    expect(await from(`${GATEWAY}, unknown`)).toBe(403);
    const answers = [];
    for (let port = 1000; port < 1012; port += 1) answers.push(await from(`198.51.100.9:${port}`));
    expect(answers.slice(10)).toEqual([429, 429]);
    await scene.server.stop(100);
  });
});
