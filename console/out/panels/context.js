import { linksOf,                             } from '../model/links.js';

import { h } from '../ui/dom.js';

/** What a renderer draws from. */

/** Options of a panel type, where the file has them. */
export const optionsOf =                   (panel       )             => (panel.options ?? {})              ;

/** The links of one cell of a frame. */
export function cellLinks(
  context              ,
  frame       ,
  field       ,
  row        ,
  text         ,
)         {
  if (field.config.links === undefined) return [];
  const time = frame.fields.find(({ kind }) => kind === 'time')?.values[row];
  return linksOf(field.config.links, {
    ...context.linkContext,
    field,
    value: field.values[row],
    ...(text === undefined ? {} : { text }),
    time: typeof time === 'number' ? time : null,
    row: Object.fromEntries(frame.fields.map(({ name, values }) => [name, values[row]])),
  });
}

export const anchor = (
  { href, title, newTab }      ,
  ...children
)                    =>
  h('a', { href, title, ...(newTab ? { target: '_blank', rel: 'noreferrer' } : {}) }, ...children);
