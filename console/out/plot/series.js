import { isHidden, seriesColour } from '../model/display.js';

/** One line or set of bars, over the times that all of a panel's series share. */

/** Series of all frames over one time axis. */
export function joinSeries(frames                  , theme       )            {
  const usable = frames.flatMap((frame) => {
    const time = frame.fields.find(({ kind }) => kind === 'time');
    return time === undefined ? [] : [{ frame, instants: time.values                      }];
  });
  const times = [...new Set(usable.flatMap(({ instants }) => instants))]
    .filter((time)                 => time !== null)
    .toSorted((a, b) => a - b);
  const series           = [];
  for (const { frame, instants } of usable) {
    const rowAt = new Map(instants.map((time, row) => [time, row]));
    const rows = times.map((time) => rowAt.get(time) ?? -1);
    for (const field of frame.fields) {
      if ((field.kind !== 'number' && field.kind !== 'boolean') || isHidden(field.config)) continue;
      const placement = field.config.custom?.axisPlacement;
      const right = placement === 'right';
      series.push({
        field,
        frame,
        colour: seriesColour(field, theme, series.length),
        scale: `${field.config.unit ?? ''}|${placement ?? 'auto'}|${field.config.min ?? ''}|${field.config.max ?? ''}`,
        right,
        values: rows.map((row) => numberAt(field, row)),
        rows,
      });
    }
  }
  return { times, series };
}

function numberAt({ values }       , row        )                {
  const value = row === -1 ? null : values[row];
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Where each series begins and ends once those of one group stand on each other; others begin at null. */

/** @param shown which series take part: hidden ones leave no gap */
export function stack({ times, series }           , shown                    )            {
  const sums = new Map                  ();
  const totals = percentTotals({ times, series }, shown);
  return series.map((one, index) => {
    const { mode = 'none', group = 'A' } = one.field.config.custom?.stacking ?? {};
    if (mode === 'none' || shown[index] !== true) return { lower: null, upper: one.values };
    const key = stackKey(one, group);
    const sum = sums.get(key) ?? times.map(() => 0);
    const total = mode === 'percent' ? totals.get(key) : undefined;
    const lower = [...sum];
    const upper = one.values.map((value, row) => {
      if (value === null) return null;
      const whole = total?.[row] ?? 0;
      sum[row] = (sum[row] ?? 0) + (total === undefined ? value : whole === 0 ? 0 : value / whole);
      return sum[row] ?? null;
    });
    sums.set(key, sum);
    return { lower, upper };
  });
}

const stackKey = (one        , group        )         =>
  `${group}|${one.scale}|${one.field.config.custom?.drawStyle ?? 'line'}`;

function percentTotals(
  { times, series }           ,
  shown                    ,
)                                {
  const totals = new Map                  ();
  series.forEach((one, index) => {
    const { mode, group = 'A' } = one.field.config.custom?.stacking ?? {};
    if (mode !== 'percent' || shown[index] !== true) return;
    const key = stackKey(one, group);
    const sum = totals.get(key) ?? times.map(() => 0);
    one.values.forEach((value, row) => (sum[row] = (sum[row] ?? 0) + (value ?? 0)));
    totals.set(key, sum);
  });
  return totals;
}
