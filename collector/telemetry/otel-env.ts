/**
 * The standard `OTEL_*` variables that decide whether a signal is sent at all; the libraries read the others.
 */

import { GatewatchError } from '../../schemas/errors.ts';

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

/**
 * True when the collector traces its own work: spans go out by OTLP, and `OTEL_TRACES_SAMPLER` says how
 * many. Who only wants the traces of payments gets no others.
 */
export function isOwnTracingWanted(env: Environment): boolean {
  return isOtlpWanted(env, 'TRACES') && (env['OTEL_TRACES_SAMPLER']?.trim() ?? '') !== '';
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

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];

/**
 * How a signal goes out: `OTEL_EXPORTER_OTLP_..._PROTOCOL`, else `OTEL_EXPORTER_OTLP_PROTOCOL`, else
 * `http/protobuf`.
 * @throws GatewatchError `config_invalid`
 */
export function readProtocol(env: Environment, signal: 'TRACES' | 'METRICS'): OtlpProtocol {
  for (const name of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const value = env[name]?.trim() ?? '';
    if (value === '') continue;
    const known = PROTOCOLS.find((protocol) => protocol === value);
    if (known !== undefined) return known;
    const message = `${name}: received ${JSON.stringify(value)}, expected ${PROTOCOLS.join(', ')}`;
    throw new GatewatchError(message, { code: 'config_invalid' });
  }
  return 'http/protobuf';
}
