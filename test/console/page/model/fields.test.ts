import { describe, expect, it } from 'vitest';
import { column, framesOf } from './sample-fields.ts';

describe('a long result', () => {
  const long = [
    column('time', 'time', 1, 1, 2, 3),
    column('group', 'text', 'TECH', 'USER', 'TECH', 'USER'),
    column('orders', 'number', 10, 1, 20, 3),
  ];

  it('becomes a series for each set of texts, with holes where it had no row', () => {
    const [frame] = framesOf(long);
    expect(frame?.fields.map(({ title, values }) => [title, values])).toEqual([
      ['time', [1, 2, 3]],
      ['orders TECH', [10, 20, null]],
      ['orders USER', [1, null, 3]],
    ]);
  });

  it('names series by all labels when there are several', () => {
    const [frame] = framesOf([...long, column('stage', 'text', 'a', 'b', 'a', 'b')]);
    expect(frame?.fields.map(({ title }) => title)).toEqual([
      'time',
      'orders {group="TECH", stage="a"}',
      'orders {group="USER", stage="b"}',
    ]);
  });

  it('stays as it is without numbers, as states do', () => {
    const [frame] = framesOf([column('time', 'time', 1, 2), column('state', 'text', 'a', 'b')]);
    expect(frame?.fields.map(({ name, values }) => [name, values])).toEqual([
      ['time', [1, 2]],
      ['state', ['a', 'b']],
    ]);
  });

  it('takes overrides by name and pattern, the later over the earlier', () => {
    const [frame] = framesOf(long, 0, {
      defaults: { unit: 'short', custom: { lineWidth: 2, fillOpacity: 10 } },
      overrides: [
        { matcher: { id: 'byName', options: 'orders' }, properties: [{ id: 'decimals', value: 1 }] },
        {
          matcher: { id: 'byRegexp', options: '/\\bTECH\\b/' },
          properties: [
            { id: 'displayName', value: 'lost to ${__field.labels.group}' },
            { id: 'custom.fillOpacity', value: 80 },
            { id: 'custom.stacking', value: { mode: 'normal' } },
            { id: 'unit', value: null },
          ],
        },
        { matcher: { id: 'byName', options: 'orders USER' }, properties: [{ id: 'decimals', value: 3 }] },
      ],
    });
    const [, tech, user] = frame?.fields ?? [];
    expect(tech).toMatchObject({
      title: 'lost to TECH',
      config: { decimals: 1, custom: { lineWidth: 2, fillOpacity: 80, stacking: { mode: 'normal' } } },
    });
    expect(tech?.config.unit).toBeUndefined();
    expect(user).toMatchObject({ title: 'orders USER', config: { unit: 'short', decimals: 3 } });
  });

  it('distinguishes equal names by numbers', () => {
    const [frame] = framesOf(long, 0, { defaults: { displayName: 'orders' } });
    expect(frame?.fields.slice(1).map(({ title }) => title)).toEqual(['orders 2', 'orders 3']);
  });
});
