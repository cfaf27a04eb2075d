import { describe, expect, it } from 'vitest';
import type { Field } from '../../../../console/page/model/fields.ts';
import { fill, linksOf, type LinkContext } from '../../../../console/page/model/links.ts';

const context: LinkContext = {
  variables: { gateway: ['acme', "o'neil & co"], channel: ['$__all'] },
  range: { from: 'now-3h', to: 'now' },
  value: 'order 1/2',
  field: { title: 'Order', labels: { stage: 'CHECK' } } as unknown as Field,
  row: { gateway: 'a&b', order_type: 'Deposit' },
};

describe('a link of a field', () => {
  it('keeps the time range and the choices, and takes values of its row', () => {
    const url =
      '/d/gatewatch-order?${__url_time_range}&${datasource:queryparam}&${gateway:queryparam}&${channel:queryparam}&var-order_id=${__value.raw:percentencode}&var-order_type=${__data.fields.order_type:percentencode}&var-x=${__data.fields.gateway:percentencode}&s=${__field.labels.stage}';
    expect(linksOf([{ title: 'Timeline of ${__value.raw}', url }], context)).toEqual([
      {
        title: 'Timeline of order 1/2',
        href: "/d/gatewatch-order?from=now-3h&to=now&var-gateway=acme&var-gateway=o'neil%20%26%20co&var-channel=%24__all&var-order_id=order%201%2F2&var-order_type=Deposit&var-x=a%26b&s=CHECK",
        newTab: false,
      },
    ]);
  });

  it.each(['javascript:alert(1)', '//evil.example/x', 'data:text/html,x', '${__value.raw}'])(
    'that is no address of ours or of the web is left out: %s',
    (url) => {
      expect(linksOf([{ title: 'x', url }], { ...context, value: 'javascript:alert(1)' })).toEqual([]);
    },
  );

  it('to elsewhere opens beside the page', () => {
    expect(
      linksOf([{ title: 'x', url: 'https://runbooks.example/${__field.labels.stage}' }], context),
    ).toEqual([{ title: 'x', href: 'https://runbooks.example/CHECK', newTab: true }]);
  });

  it('leaves prices in texts alone', () => {
    expect(fill('a && b ? && : c', context, false)).toBe('a && b ? && : c');
    expect(fill('costs $5, of $gateway', context, false)).toBe("costs $5, of acme,o'neil & co");
  });
});
