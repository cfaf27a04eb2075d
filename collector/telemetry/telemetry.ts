import { context, metrics, trace } from '@opentelemetry/api';
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { IMetricReader } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { settlesWithin } from '../../schemas/deadline.ts';
import type { GaugeReaders, Instruments } from './instruments.ts';
import { createInstruments, observeGauges } from './instruments.ts';
import type { Environment } from './otel-env.ts';
import { asksForOpenMetrics, OPEN_METRICS_TYPE, openMetricsText } from './open-metrics.ts';
import {
  isOtlpWanted,
  isOwnTracingWanted,
  isTelemetryDisabled,
  readMilliseconds,
  readProtocol,
  wantedHistograms,
} from './otel-env.ts';
import { createPaymentProducer, type PaymentProducer } from './payment-producer.ts';
import { createResource } from './resource.ts';

export interface TelemetryOptions {
  /** Version of gatewatch. */
  version: string;
  /** Becomes `service.instance.id`. */
  collectorId: string;
  /** Where `OTEL_*` is read. */
  env: Environment;
}

export interface Telemetry {
  readonly instruments: Instruments;
  /** Lets gauges be read from now on; once a gauge. */
  observe(readers: GaugeReaders): void;
  /** Lets metrics of payments be read from now on, beside the instruments. */
  readonly showPayments: PaymentProducer['connect'];
  /**
   * The metrics in Prometheus' text format, or in that of OpenMetrics where `accept` asks for it: the body of
   * `GET /metrics`.
   */
  renderMetrics(accept?: string): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Sends what is left, for at most `graceMs`. Never rejects. @default 3000 */
  stop(graceMs?: number): Promise<void>;
}

const METRIC_EXPORTERS = {
  grpc: GrpcExporter,
  'http/json': JsonExporter,
  'http/protobuf': ProtobufExporter,
} as const;

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The collector's telemetry about itself (payment spans go another way: `sinks/otlp`). Metrics are always
 * there for `/metrics`; they also go out by OTLP when `OTEL_EXPORTER_OTLP_ENDPOINT` or its metrics form names
 * a receiver and `OTEL_METRICS_EXPORTER` does not exclude it. `OTEL_SDK_DISABLED=true` switches all of it
 * off. One per process: it registers itself with the OpenTelemetry API, and `stop` takes it back.
 */
export function startTelemetry({ version, collectorId, env }: TelemetryOptions): Telemetry {
  const payments = createPaymentProducer(version);
  const prometheus = new PrometheusExporter({
    preventServerStart: true,
    metricProducers: [payments.as('classic')],
  });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const readers: IMetricReader[] = [prometheus];
  if (isOtlpWanted(env, 'METRICS')) {
    const exportIntervalMillis = readMilliseconds(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000);
    const timeoutMs = readMilliseconds(env, 'OTEL_METRIC_EXPORT_TIMEOUT', 30_000);
    // The reader throws at a timeout above its interval, which is what a short interval alone would give.
    const exportTimeoutMillis = Math.min(timeoutMs, exportIntervalMillis);
    readers.push(
      new PeriodicExportingMetricReader({
        exporter: new METRIC_EXPORTERS[readProtocol(env, 'METRICS')](),
        metricProducers: [payments.as(wantedHistograms(env))],
        exportIntervalMillis,
        exportTimeoutMillis,
      }),
    );
  }
  const sdk = new NodeSDK({
    resource: createResource({ version, collectorId }),
    autoDetectResources: false,
    metricReaders: readers,
    // Exporter and sampler as `OTEL_*` say. Payment spans come from stored rows, and go another way.
    ...(isOwnTracingWanted(env) ? {} : { spanProcessors: [] }),
    logRecordProcessors: [],
  });
  sdk.start();
  const meter = metrics.getMeter('gatewatch', version);
  const disabled = isTelemetryDisabled(env);

  return {
    instruments: createInstruments(meter),
    observe: (more) => observeGauges(meter, more),
    showPayments: payments.connect,
    async renderMetrics(accept) {
      if (disabled) return { contentType: CONTENT_TYPE, body: '# switched off by OTEL_SDK_DISABLED\n' };
      const { resourceMetrics } = await prometheus.collect();
      if (asksForOpenMetrics(accept))
        return { contentType: OPEN_METRICS_TYPE, body: openMetricsText(resourceMetrics) };
      return { contentType: CONTENT_TYPE, body: serializer.serialize(resourceMetrics) };
    },
    async stop(graceMs = 3000) {
      await settlesWithin(sdk.shutdown(), graceMs);
      metrics.disable();
      trace.disable();
      context.disable();
    },
  };
}
