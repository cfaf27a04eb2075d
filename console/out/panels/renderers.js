import { drawBarGauge, drawGauge } from './gauges.js';
import { drawStat } from './stat.js';
import { drawStateTimeline } from './state-timeline.js';
import { drawTable } from './table.js';
import { drawText } from './text.js';
import { drawTimeSeries } from './timeseries.js';
import { drawTraces } from './traces.js';

/** Panel types that the page draws. Any other is named in its place. */
export const RENDERERS                                     = {
  stat: drawStat,
  gauge: drawGauge,
  bargauge: drawBarGauge,
  timeseries: drawTimeSeries,
  table: drawTable,
  'state-timeline': drawStateTimeline,
  traces: drawTraces,
  text: drawText,
};

/** Types whose figures can be read as a table instead. */
export const HAS_TABLE                      = new Set([
  'timeseries',
  'stat',
  'gauge',
  'bargauge',
  'state-timeline',
]);
