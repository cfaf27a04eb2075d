import type { Renderer } from './context.ts';
import { drawBarGauge } from './gauges.ts';
import { drawStat } from './stat.ts';
import { drawStateTimeline } from './state-timeline.ts';
import { drawTable } from './table.ts';
import { drawText } from './text.ts';
import { drawTimeSeries } from './timeseries.ts';
import { drawTraces } from './traces.ts';

/** Panel types that the page draws. Any other is named in its place. */
export const RENDERERS: Readonly<Record<string, Renderer>> = {
  stat: drawStat,
  bargauge: drawBarGauge,
  timeseries: drawTimeSeries,
  table: drawTable,
  'state-timeline': drawStateTimeline,
  traces: drawTraces,
  text: drawText,
};

/** Types whose figures can be read as a table instead. */
export const HAS_TABLE: ReadonlySet<string> = new Set(['timeseries', 'stat', 'bargauge', 'state-timeline']);
