import { describe, expect, it } from 'vitest';
import { chosenOf, readUrl, refreshMs, writeUrl } from '../../../../console/page/model/url-state.ts';

describe('the address of a page', () => {
  it('is read as it was written', () => {
    const address = {
      uid: 'gatewatch-overview',
      range: { from: 'now-15m', to: 'now' },
      refresh: '5s',
      variables: { gateway: ['a', 'b&c'], order_id: [''] },
      viewPanel: 12,
    };
    const { pathname, search } = new URL(writeUrl(address), 'http://x');
    expect(readUrl(pathname, search)).toEqual(address);
  });

  it('may leave everything to the dashboard', () => {
    expect(readUrl('/d/x/some-title', '')).toEqual({
      uid: 'x',
      range: null,
      refresh: null,
      variables: {},
      viewPanel: null,
    });
  });

  it('chooses only variables that the dashboard has', () => {
    const variables = [
      { name: 'datasource', type: 'datasource' },
      { name: 'gateway', type: 'query', includeAll: true, current: { value: '$__all' } },
      { name: 'order_id', type: 'textbox', current: { value: '' } },
    ];
    const board = { uid: 'x', title: '', panels: [], templating: { list: variables } };
    expect(chosenOf(board, { merchant: ['a'], gateway: ['b', '$__all'], order_id: ['7'] })).toEqual({
      gateway: ['$__all'],
      order_id: ['7'],
    });
    expect(chosenOf(board, { gateway: [''] })).toEqual({ gateway: ['$__all'], order_id: [''] });
  });

  it.each([
    ['5s', 5_000],
    ['1m', 60_000],
    ['', 0],
    ['often', 0],
  ])('refreshes every %s', (text, expected) => {
    expect(refreshMs(text)).toBe(expected);
  });
});
