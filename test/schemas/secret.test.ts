import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import { serialize } from 'node:v8';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { GatewatchError } from '../../schemas/errors.ts';
import { Secret } from '../../schemas/secret.ts';

const VALUE = 'p4ssw0rd-0123456789abcdef';
const secret = new Secret(VALUE);
const wrapped = {
  gateways: [{ name: 'acme-eu', token: secret }],
  keys: new Map([['key', secret]]),
  all: new Set([secret]),
};

/** Everything that is written to the returned stream. */
function capture(): { stream: Writable; text: () => string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

describe('a secret', () => {
  it('gives its value to those who ask for it by name', () => {
    expect(secret.reveal()).toBe(VALUE);
  });

  it.each<[string, () => string]>([
    ['a template', () => `${secret}`],
    ['String()', () => String(secret)],
    ['joining texts', () => 'token: ' + String(secret)],
    ['joining a list', () => [secret, secret].join()],
    ['toString()', () => secret.toString()],
    ['toLocaleString()', () => secret.toLocaleString()],
    ['JSON', () => JSON.stringify(secret)],
    ['JSON of an object', () => JSON.stringify(wrapped)],
    ['JSON of its entries', () => JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret)])],
    ['the inspector', () => inspect(secret)],
    [
      'the inspector at any depth',
      () => inspect(wrapped, { depth: Infinity, showHidden: true, getters: true }),
    ],
    [
      'the inspector without custom texts',
      () => inspect(wrapped, { depth: Infinity, customInspect: false, showHidden: true }),
    ],
    ['format with %s', () => format('%s', secret)],
    ['format with %o', () => format('%o %O', secret, wrapped)],
    ['format with %j', () => format('%j', wrapped)],
    ['format with %d', () => format('%d %i %f', secret, secret, secret)],
    ['format with more values', () => format('token', secret, wrapped)],
    ['a serialized copy', () => serialize(secret).toString('latin1')],
    ['a structured clone', () => inspect(structuredClone(wrapped), { depth: Infinity })],
    ['a spread', () => inspect({ ...secret })],
    ['an error message', () => new Error(`bad token ${secret}`).message],
    ['the cause of an error', () => inspect(new Error('no access', { cause: secret }))],
    [
      'the cause of an error of ours',
      () =>
        inspect(new GatewatchError('no access', { code: 'config_invalid', cause: wrapped }), {
          depth: Infinity,
        }),
    ],
    [
      'a property of an error',
      () => inspect(Object.assign(new Error('no access'), { token: secret, wrapped }), { depth: Infinity }),
    ],
    ['the stack of an error', () => new Error(`${secret}`).stack ?? ''],
    [
      'an aggregate of errors',
      () => inspect(new AggregateError([Object.assign(new Error('x'), { secret })]), { depth: Infinity }),
    ],
    ['a URL', () => new URLSearchParams({ token: String(secret) }).toString()],
    ['a header', () => JSON.stringify([...new Headers({ authorization: `Bearer ${secret}` })])],
  ])('is not shown by %s', (_name, print) => {
    expect(print()).not.toContain(VALUE);
  });

  it('is shown as [secret] where one looks for it', () => {
    expect([`${secret}`, JSON.stringify(secret), inspect(secret), format('%s', secret)]).toEqual([
      '[secret]',
      '"[secret]"',
      '[secret]',
      '[secret]',
    ]);
  });

  it('is not shown by the console', () => {
    const { stream, text } = capture();
    const console = new Console({ stdout: stream, stderr: stream });
    console.log(secret, wrapped);
    console.error('%s %o', secret, wrapped);
    console.dir(wrapped, { depth: null, showHidden: true });
    console.table([wrapped, { secret }]);
    expect(text()).toContain('[secret]');
    expect(text()).not.toContain(VALUE);
  });

  it('is not shown by the log, in any place of a log line', () => {
    const { stream, text } = capture();
    const log = pino({ level: 'trace' }, stream);
    log.info(
      { secret, wrapped, err: Object.assign(new Error('no access', { cause: secret }), { secret }) },
      'x',
    );
    log.info('%s %j %o', secret, secret, wrapped);
    log.child({ secret }).warn(new GatewatchError(`${secret}`, { code: 'internal', cause: { secret } }));
    log.error(secret);
    expect(text()).toContain('[secret]');
    expect(text()).not.toContain(VALUE);
  });

  it('equals another of the same value only by its value', () => {
    expect(new Secret(VALUE) === secret).toBe(false);
    expect(new Secret(VALUE).reveal() === secret.reveal()).toBe(true);
  });
});
