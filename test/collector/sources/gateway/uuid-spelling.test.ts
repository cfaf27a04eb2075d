import { describe, expect, it } from 'vitest';
import { createUuidSpelling } from '../../../../collector/sources/gateway/uuid-spelling.ts';

const ID = 'a0000000-0000-4000-8000-0000000000ff';

describe('the case in which a gateway is asked for UUIDs', () => {
  it('is the lower one, and the other one after nothing was found, until one is proved', () => {
    const spelling = createUuidSpelling();
    expect(spelling.of(ID)).toBe(ID);
    spelling.heard(ID, 'unknown');
    expect(spelling.of(ID)).toBe(ID);
    spelling.heard(ID, 'not_found');
    // A second request that was under way at the same time.
    spelling.heard(ID, 'not_found');
    expect(spelling.of(ID)).toBe(ID.toUpperCase());
    spelling.heard(ID.toUpperCase(), 'ok');
    spelling.heard(ID.toUpperCase(), 'not_found');
    expect(spelling.of(ID)).toBe(ID.toUpperCase());
  });

  it('of an order stays the lower one, whichever other orders do not exist', () => {
    const spelling = createUuidSpelling();
    const other = 'b0000000-0000-4000-8000-0000000000ff';
    spelling.heard(other, 'not_found');
    expect([spelling.of(ID), spelling.of(other)]).toEqual([ID, other.toUpperCase()]);
  });

  it('comes back to the lower one', () => {
    const spelling = createUuidSpelling();
    spelling.heard(ID, 'not_found');
    spelling.heard(ID.toUpperCase(), 'not_found');
    expect(spelling.of(ID)).toBe(ID);
    spelling.heard(ID, 'ok');
    spelling.heard(ID, 'not_found');
    expect(spelling.of(ID)).toBe(ID);
  });

  it('is that of the id where it is no UUID, or one of digits only', () => {
    const spelling = createUuidSpelling();
    spelling.heard('order-1', 'not_found');
    spelling.heard('10000000-0000-4000-8000-000000000000', 'not_found');
    expect([spelling.of(ID), spelling.of('order-1')]).toEqual([ID, 'order-1']);
    spelling.heard(ID, 'not_found');
    expect(spelling.of('order-1')).toBe('order-1');
  });
});
