import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import { rawPost, sendRaw } from '../../../support/http-raw.ts';
import { asJson, post, startScene, type HttpScene } from '../../../support/http-scene.ts';
import { annotationRow } from '../../../../schemas/annotation.ts';
import { watchRequestOf } from '../../../../collector/sources/http/api-routes.ts';

const health = { ok: true, problems: {} as Record<string, string>, details: { watched: 3 } };
let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await startScene({ health: () => health, ready: () => health, landing: async () => '/d/first' });
  url = scene.server.url;
});
afterAll(() => scene.server.stop(100));
beforeEach(() => {
  scene.watched.splice(0);
  scene.annotations.splice(0);
  scene.behind = async () => {};
  Object.assign(health, { ok: true, problems: {} });
});

const away = async () => {
  throw new GatewatchError('away', { code: 'store_unavailable', retryable: true });
};
const get = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(url + path, { headers, redirect: 'manual' });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
};
const order = { orderType: 'Deposit', externalId: 'order-1' };

describe('the addresses for machines', () => {
  it.each(['/healthz', '/readyz'])(
    '%s is 200 while all is well and 503 with the reasons when not',
    async (path) => {
      const well = await get(path);
      expect([well.status, JSON.parse(well.text)]).toEqual([200, { status: 'ok', problems: {}, watched: 3 }]);
      Object.assign(health, { ok: false, problems: { store: 'no answer' } });
      const ill = await get(path);
      expect([ill.status, JSON.parse(ill.text)]).toEqual([
        503,
        { status: 'failing', problems: { store: 'no answer' }, watched: 3 },
      ]);
    },
  );

  it('/metrics is what the instruments render', async () => {
    const { status, headers, text } = await get('/metrics');
    expect([status, headers.get('content-type'), text]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'up 1\n',
    ]);
  });

  it('/ lists what there is for programs, and leads browsers to the console', async () => {
    expect(JSON.parse((await get('/')).text)).toMatchObject({ name: 'gatewatch', version: '1.2.3' });
    const page = await get('/', { accept: 'text/html,application/xhtml+xml' });
    expect([page.status, page.headers.get('location')]).toEqual([302, '/d/first']);
  });

  it.each([
    ['a path that cannot be decoded', '/orders/%ff', 400],
    ['an id that is too long for any order', `/orders/${'4111'.repeat(200)}`, 414],
  ])('%s is refused as a problem that does not repeat it', async (_what, path, expected) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([
      expected,
      'application/problem+json; charset=utf-8',
    ]);
    expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', status: expected });
    expect(text).not.toContain(path.slice('/orders/'.length));
  });

  it.each(['/nothing', '/orders', '/../etc/passwd', '/healthz/x'])('%s is 404 as a problem', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
    expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', title: 'Not Found', status: 404 });
  });
});

describe('POST /orders', () => {
  const watch = (body: unknown, headers: Record<string, string> = asJson) =>
    post(`${url}/orders`, typeof body === 'string' ? body : JSON.stringify(body), headers);

  it('takes one order or many, and answers when they are stored', async () => {
    expect(await watch(order)).toMatchObject({ status: 202, text: '{"watched":1}' });
    const many = Array.from({ length: 100 }, (_order, n) => ({ ...order, externalId: `order-${n}` }));
    expect(await watch(many)).toMatchObject({ status: 202, text: '{"watched":100}' });
    expect(scene.watched).toHaveLength(101);
    expect(scene.watched[0]).toMatchObject({
      message: order,
      problem: null,
      source: 'http',
      coordinates: null,
    });
    expect(new Set(scene.watched.map(({ deliveryId }) => deliveryId)).size).toBe(101);
  });

  it.each<[unknown, RegExp]>([
    [{}, /orderType/],
    [{ orderType: 'Refund', externalId: 'a' }, /orderType/],
    [{ orderType: 'Deposit' }, /externalId/],
    [{ ...order, externalId: '..' }, /externalId/],
    [{ ...order, externalId: 'x'.repeat(201) }, /externalId/],
    [{ ...order, amount: 'much' }, /amount/],
    [[order, { orderType: 'Deposit' }], /\[1\] externalId/],
    ['not json', /JSON/],
    ['', /JSON/],
    [null, /object/],
    [{ ...order, gateway: 'nobody' }, /gateway/],
  ])('refuses %j and says what is wrong', async (body, detail) => {
    const answer = await watch(body === '' || typeof body === 'string' ? body : JSON.stringify(body));
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect((JSON.parse(answer.text) as { detail: string }).detail).toMatch(detail);
  });

  it('takes all of a request or nothing of it', async () => {
    const { status, text } = await watch([order, { orderType: 'Deposit' }, { ...order, gateway: 'nobody' }]);
    expect([status, scene.watched]).toEqual([400, []]);
    expect(JSON.parse(text)).toMatchObject({
      errors: [
        { index: 1, field: 'externalId' },
        { index: 2, field: 'gateway', expected: 'one of acme-eu' },
      ],
    });
  });

  it('refuses what is not UTF-8 instead of following an order of another name', async () => {
    const body = Buffer.from('{"orderType":"Deposit","externalId":"caf\u00e9"}', 'latin1');
    const answer = await post(`${url}/orders`, body, asJson);
    expect([answer.status, scene.watched]).toEqual([400, []]);
    expect(answer.text).toContain('JSON in UTF-8');
  });

  it('refuses more than a thousand at once instead of dropping what is beyond', async () => {
    const answer = await watch(Array.from({ length: 1001 }, () => 1));
    expect([answer.status, scene.watched]).toEqual([400, []]);
    expect(answer.text).toContain('at most 1000 orders, received 1001');
  });

  it('refuses what a page in a browser can send without asking: other content types', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect((await watch(order, { 'content-type': type })).status).toBe(415);
    expect((await sendRaw(url, rawPost('/orders', [], JSON.stringify(order)))).status).toBe(415);
    expect(scene.watched).toEqual([]);
  });

  it('answers 503 and when to try again while the store is away', async () => {
    scene.behind = away;
    const answer = await watch(order);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });
});

describe('GET /orders/{id}', () => {
  it('asks for the order that is meant', async () => {
    expect(JSON.parse((await get('/orders/order-1')).text)).toEqual({ id: 'order-1' });
    const exact = await get('/orders/order-1?gateway=acme-eu&type=Withdrawal&by=transaction-id');
    expect(JSON.parse(exact.text)).toEqual({
      id: 'order-1',
      gateway: 'acme-eu',
      type: 'Withdrawal',
      by: 'transaction-id',
    });
  });

  it.each(["it's", 'a/b', 'a b', 'é', '100%', 'x'.repeat(200)])('takes the id %j', async (id) => {
    expect(JSON.parse((await get(`/orders/${encodeURIComponent(id)}`)).text)).toEqual({ id });
  });

  it.each([
    ['an unknown id', '/orders/unknown', 404],
    ['an id that is too long', `/orders/${'x'.repeat(201)}`, 400],
    ['an id that is much too long', `/orders/${'x'.repeat(9000)}`, 414],
    ['an unknown type', '/orders/a?type=Refund', 400],
    ['an unknown kind of id', '/orders/a?by=name', 400],
    ['an id that is badly encoded', '/orders/%zz', 400],
  ])('answers %s as a problem', async (_what, path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('json');
  });

  it('answers 503 while the store is away', async () => {
    scene.behind = away;
    expect((await get('/orders/order-1')).status).toBe(503);
  });
});

describe('POST /annotations', () => {
  const annotate = (body: unknown) => post(`${url}/annotations`, JSON.stringify(body), asJson);

  it('stores a note, from now when it says no time', async () => {
    const answer = await annotate({ title: 'deployed 1.2.3', tags: ['deployment'] });
    expect(answer.status).toBe(201);
    const { annotationId } = JSON.parse(answer.text) as { annotationId: string };
    expect(scene.annotations).toEqual([
      {
        annotation_id: annotationId,
        starts_at: 1_795_256_130_000_000,
        ends_at: null,
        gateway: '',
        title: 'deployed 1.2.3',
        text: '',
        tags: ['deployment'],
      },
    ]);
  });

  it('takes times with an offset', async () => {
    await annotate({ title: 'x', startsAt: '2026-11-21T12:15:30+02:00', endsAt: '2026-11-21T10:16:30Z' });
    const [note] = scene.annotations;
    expect([note?.starts_at, note?.ends_at]).toEqual([1_795_256_130_000_000, 1_795_256_190_000_000]);
  });

  it.each([
    [{}, 'title: expected a string, received nothing'],
    [{ title: '' }, 'title: expected at least 1 characters, received an empty string'],
    [{ title: 'x'.repeat(201) }, 'title: expected at most 200 characters, received a text like ~a:201'],
    [{ title: 'a\nb' }, 'title: expected printable text in one line, received a text like ~a a:3'],
    [{ title: 'a\u202eb' }, 'title: expected printable text in one line, received a text like ~a.a:3'],
    [{ title: 'x', text: '\u0000' }, 'text: expected printable text, received a text like ~.:1'],
    [
      { title: 'x', tags: ['a', 'b\tc'] },
      'tags.1: expected printable text in one line, received a text like ~a a:3',
    ],
    [{ title: 'x', tags: 'one' }, 'tags: expected an array, received "one"'],
    [
      { title: 'x', gateway: '<script>4111111111111111</script>' },
      'gateway: expected one of acme-eu, or nothing for all, received a text like ~.a.9.a.:33',
    ],
    [{ title: 'x', startsAt: 'yesterday' }, 'startsAt: expected'],
    [{ title: 'x', startsAt: '2026-11-21T10:15:30Z', endsAt: '2026-11-21T10:15:29Z' }, 'endsAt: expected'],
  ])('refuses %j, naming the field', async (body, detail) => {
    const answer = await annotate(body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringContaining(detail) as string }),
    ]);
    expect(scene.annotations).toEqual([]);
  });

  it('stores no card number, and markup as the text that it is', async () => {
    const body = {
      title: 'refund of 4111 1111 1111 1111 <img src=x onerror=alert(1)>',
      text: 'line one\nbuild 20261121101530, card ４１１１１１１１１１１１１１１１, ticket 41111111111111111228123',
      tags: ['4111-1111-1111-1111', 'deployment'],
      gateway: 'acme-eu',
    };
    expect((await annotate(body)).status).toBe(201);
    expect(scene.annotations).toMatchObject([
      {
        title: 'refund of [16 digits] <img src=x onerror=alert(1)>',
        text: 'line one\nbuild 20261121101530, card [16 digits], ticket [23 digits]',
        tags: ['[16 digits]', 'deployment'],
        gateway: 'acme-eu',
      },
    ]);
  });
});

describe('an annotation', () => {
  const input = { title: 'Incident', text: '', gateway: '', tags: [] };

  it('starts now where it names no start, and need not end', () => {
    expect(annotationRow(input, 'id', 5)).toMatchObject({ annotation_id: 'id', starts_at: 5, ends_at: null });
  });

  it('keeps the times that it names, whatever their offset', () => {
    const times = { startsAt: '2026-01-01T02:00:00+02:00', endsAt: '2026-01-01T00:00:01Z' };
    const row = annotationRow({ ...input, ...times }, 'id', 5);
    expect([row.starts_at, row.ends_at]).toEqual([1_767_225_600_000_000, 1_767_225_601_000_000]);
  });
});

describe('an item of POST /orders', () => {
  it('that is no watch message becomes a request with its problem', () => {
    expect(watchRequestOf(5, 'delivery')).toMatchObject({
      message: null,
      problem: { expected: expect.any(String) },
      source: 'http',
      deliveryId: 'delivery',
    });
  });
});
