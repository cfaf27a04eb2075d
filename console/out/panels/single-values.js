import { display, isHidden,            } from '../model/display.js';

import { reduce, reducerTitle } from '../model/reduce.js';
import { cellLinks, optionsOf,                   } from './context.js';

/** One of the numbers that a stat, a gauge or a bar gauge shows. */

/** The values of a panel by its `reduceOptions`: one a field, or one a row and field. */
export function singleValues(context              )                {
  const { reduceOptions = {} } = optionsOf                                  (context.panel);
  const values = context.frames.flatMap((frame) =>
    reduceOptions.values === true
      ? ofRows(context, frame, reduceOptions)
      : ofFields(context, frame, reduceOptions),
  );
  return values.slice(0, reduceOptions.values === true ? (reduceOptions.limit ?? 5000) : 100);
}

const isShown = (field       , wanted                    )          =>
  !isHidden(field.config) &&
  (wanted === undefined || wanted === ''
    ? field.kind === 'number'
    : wanted === '/.*/' || wanted === field.name || wanted === field.title);

function ofFields(context              , frame       , options               )                {
  const calcs = options.calcs ?? ['lastNotNull'];
  const fields = frame.fields.filter((field) => isShown(field, options.fields));
  if (frame.length === 0) return [];
  return fields.flatMap((field, index) =>
    calcs.map((calc) => {
      const value = reduce(field, calc);
      return {
        title: calcs.length > 1 ? `${field.title} ${reducerTitle(calc).toLowerCase()}` : field.title,
        value,
        field,
        shown: display(field, value, context.theme, index),
        links: cellLinks(context, frame, field, Math.max(field.values.lastIndexOf(value), 0)),
      };
    }),
  );
}

/** Rows are named by their texts; the column's own name joins in when there are several numbers. */
function ofRows(context              , frame       , options               )                {
  const fields = frame.fields.filter((field) => isShown(field, options.fields));
  const texts = frame.fields.filter(({ kind }) => kind === 'text');
  return Array.from({ length: frame.length }, (_, row) => row).flatMap((row) => {
    const name = texts
      .map((field) => display(field, field.values[row], context.theme).text)
      .filter(Boolean)
      .join(' ');
    return fields.map((field, index) => ({
      title: fields.length > 1 || name === '' ? `${name} ${field.title}`.trim() : name,
      value: field.values[row],
      field,
      shown: display(field, field.values[row], context.theme, index),
      links: cellLinks(context, frame, field, row),
    }));
  });
}
