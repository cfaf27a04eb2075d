import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressList, senderOf } from '../../../../collector/sources/http/addresses.ts';

describe('a list of addresses', () => {
  const list = addressList(['203.0.113.0/24', '198.51.100.7', '2001:db8:1::/48', '2001:db8:2::9']);

  it.each([
    ['203.0.113.200', true],
    ['203.0.114.1', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['::ffff:198.51.100.7', true],
    ['::ffff:203.0.114.1', false],
    ['2001:db8:1:ffff::1', true],
    ['2001:db8:2::9', true],
    ['2001:db8:2::a', false],
    ['unix', false],
    ['', false],
  ])('says of %s: %s', (address, expected) => {
    expect(list(address)).toBe(expected);
  });

  it('that is empty has nobody on it', () => {
    expect(addressList([])('127.0.0.1')).toBe(false);
  });
});

describe('a sender', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:a:b:c:d:e:f', '2001:db8:a:b'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('%s is %s', (address, expected) => {
    expect(senderOf(address)).toBe(expected);
  });

  it('has all addresses of his /64, however they are written, and no other', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
        const same = addressList([`${one}/64`])(other);
        expect(senderOf(one) === senderOf(other)).toBe(same);
        expect(senderOf(one.toUpperCase())).toBe(senderOf(one));
      }),
    );
  });
});
