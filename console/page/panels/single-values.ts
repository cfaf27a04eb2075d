import { display, type Shown } from '../model/display.ts';
import type { Field, Frame } from '../model/fields.ts';
import type { Link } from '../model/links.ts';
import { reduce } from '../model/reduce.ts';
import { cellLinks, optionsOf, type PanelContext } from './context.ts';

interface ReduceOptions {
  readonly values?: boolean;
  readonly limit?: number;
}

/** One of the numbers that a stat, a gauge or a bar gauge shows. */
export interface SingleValue {
  readonly title: string;
  readonly value: unknown;
  readonly shown: Shown;
  readonly field: Field;
  readonly links: readonly Link[];
}

/** The values of a panel by its `reduceOptions`: one a field, or one a row and field. */
export function singleValues(context: PanelContext): SingleValue[] {
  const { reduceOptions = {} } = optionsOf<{ reduceOptions: ReduceOptions }>(context.panel);
  const values = context.frames.flatMap((frame) =>
    reduceOptions.values === true ? ofRows(context, frame) : ofFields(context, frame),
  );
  return values.slice(0, reduceOptions.values === true ? (reduceOptions.limit ?? 5000) : 100);
}

const numbersIn = ({ fields }: Frame): Field[] => fields.filter(({ kind }) => kind === 'number');

const ofFields = (context: PanelContext, frame: Frame): SingleValue[] =>
  frame.length === 0
    ? []
    : numbersIn(frame).map((field, index) => {
        const value = reduce(field, 'lastNotNull');
        return {
          title: field.title,
          value,
          field,
          shown: display(field, value, context.theme, index),
          links: cellLinks(context, frame, field, Math.max(field.values.lastIndexOf(value), 0)),
        };
      });

/** Rows are named by their texts; the column's own name joins in when there are several numbers. */
function ofRows(context: PanelContext, frame: Frame): SingleValue[] {
  const fields = numbersIn(frame);
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
