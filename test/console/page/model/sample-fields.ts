import { toFrames } from '../../../../console/page/model/fields.ts';
import type { Panel } from '../../../../console/page/model/types.ts';
import type { ConsoleColumn } from '../../../../schemas/console.ts';

/** A panel with nothing but its configuration of fields. */
const panel = (fieldConfig: Panel['fieldConfig'] = {}): Panel => ({
  id: 1,
  type: 'timeseries',
  gridPos: { x: 0, y: 0, w: 1, h: 1 },
  ...(fieldConfig === undefined ? {} : { fieldConfig }),
});
export const column = (name: string, kind: ConsoleColumn['kind'], ...values: unknown[]): ConsoleColumn => ({
  name,
  kind,
  values,
});
/** What the page makes of columns that the server answered. */
export const framesOf = (columns: ConsoleColumn[], format = 0, config?: Panel['fieldConfig']) =>
  toFrames(panel(config), [{ refId: 'A', format, columns }]);

/** A field of these values. */
export const fieldOf = (config: NonNullable<Panel['fieldConfig']>['defaults'], ...values: unknown[]) => {
  const [frame] = framesOf([column('x', typeof values[0] === 'string' ? 'text' : 'number', ...values)], 1, {
    defaults: config ?? {},
  });
  const [field] = frame?.fields ?? [];
  if (field === undefined) throw new Error('no field');
  return field;
};
