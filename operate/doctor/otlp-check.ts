import type { Environment } from '../../schemas/config.ts';
import { VERSION } from '../../store/package-files.ts';
import { createOtlpSender } from '../../collector/sinks/otlp/sender.ts';
import { isOtlpWanted } from '../../collector/telemetry/otel-env.ts';
import { fail, ok, type Check } from './check.ts';

const TIMEOUT_MS = 5000;

/** Does the OTLP receiver take an (empty) export, sent as the collector will send its spans? */
export function otlpCheck(env: Environment, collectorId: string): Check {
  const name = 'traces';
  return {
    name,
    async run() {
      if (!isOtlpWanted(env, 'TRACES')) {
        return [ok(name, 'Not sent: OTEL_EXPORTER_OTLP_ENDPOINT is not set, or traces are switched off.')];
      }
      const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
      const where = URL.canParse(endpoint) ? new URL(endpoint).host : 'the configured endpoint';
      const sender = createOtlpSender({ version: VERSION, collectorId, timeoutMs: TIMEOUT_MS });
      try {
        await sender.send([]);
        return [ok(name, `The OTLP receiver at ${where} takes spans.`)];
      } catch (error) {
        const advice =
          'Check OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, usually port 4318) and its headers.';
        return [fail(name, `${where}: ${(error as Error).message}.`, advice)];
      } finally {
        await sender.close();
      }
    },
  };
}
