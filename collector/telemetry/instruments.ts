import type { Counter, Histogram, Meter, Observable } from '@opentelemetry/api';
import { createNoopMeter } from '@opentelemetry/api';
import type {
  CounterKey,
  GaugeKey,
  HistogramKey,
  MetricDefinition,
  MetricKey,
} from '../../schemas/metrics.ts';
import { METRICS } from '../../schemas/metrics.ts';

/** What the parts of the collector record on. Labels: see METRICS; never the identifier of an order. */
export type Instruments = { readonly [K in CounterKey]: Counter } & {
  readonly [K in HistogramKey]: Histogram;
};

export interface GaugeReading {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Read at each scrape and export; cheap, and never throwing. A bare number is a reading without labels. */
export type GaugeReaders = { readonly [K in GaugeKey]?: () => number | readonly GaugeReading[] };

/** Creates every counter and histogram of METRICS. */
export function createInstruments(meter: Meter): Instruments {
  const instruments: Record<string, Counter | Histogram> = {};
  for (const [key, definition] of Object.entries(METRICS) as [MetricKey, MetricDefinition][]) {
    const { name, kind, unit, description, buckets } = definition;
    if (kind === 'counter') instruments[key] = meter.createCounter(name, { unit, description });
    if (kind === 'histogram') {
      const advice = buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } };
      instruments[key] = meter.createHistogram(name, { unit, description, ...advice });
    }
  }
  return instruments as unknown as Instruments;
}

/** Instruments that record nothing: the default of parts which are given none. */
export function noInstruments(): Instruments {
  return createInstruments(createNoopMeter());
}

/** Lets gauges be read from now on. Several readers of one gauge add up. */
export function observeGauges(meter: Meter, readers: GaugeReaders): void {
  for (const [key, read] of Object.entries(readers) as [GaugeKey, GaugeReaders[GaugeKey]][]) {
    if (read === undefined) continue;
    const { name, kind, unit, description } = METRICS[key];
    const instrument: Observable =
      kind === 'gauge'
        ? meter.createObservableGauge(name, { unit, description })
        : meter.createObservableCounter(name, { unit, description });
    instrument.addCallback((result) => {
      const readings = read();
      if (typeof readings === 'number') result.observe(readings);
      else
        for (const { value, labels } of readings)
          result.observe(value, labels === undefined ? {} : { ...labels });
    });
  }
}
