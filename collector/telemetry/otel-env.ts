/**
 * The standard `OTEL_*` variables that decide whether a signal is sent at all; the libraries read the others.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

export function isTelemetryDisabled(env: Environment): boolean {
  return env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
}

/**
 * True when a signal goes out by OTLP: an endpoint is named (in the configuration or the environment) and the
 * signal's `OTEL_..._EXPORTER` does not say otherwise. Without an endpoint nothing is sent to the default
 * one, localhost.
 */
export function isOtlpWanted(env: Environment, signal: 'TRACES' | 'METRICS', configured?: string): boolean {
  if (isTelemetryDisabled(env)) return false;
  const exporters = (env[`OTEL_${signal}_EXPORTER`]?.trim() || 'otlp').split(',').map((name) => name.trim());
  if (!exporters.includes('otlp')) return false;
  const endpoint =
    configured ?? env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return endpoint !== undefined && endpoint.trim() !== '';
}

/** A whole number of milliseconds, or the fallback. */
export function readMilliseconds(env: Environment, name: string, fallback: number): number {
  const value = Number(env[name]?.trim() || NaN);
  return Number.isFinite(value) && value > 0 ? value : fallback;
}

/** The form of payment durations that go out by OTLP, by the standard variable for it. */
export function wantedHistograms(env: Environment): 'classic' | 'exponential' {
  const wanted = env['OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION']?.trim().toLowerCase();
  return wanted === 'base2_exponential_bucket_histogram' ? 'exponential' : 'classic';
}
