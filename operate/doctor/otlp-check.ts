import type { Environment } from '../../schemas/config.ts';
import { fail, ok, type Check } from './check.ts';

/**
 * Sends an (empty) export as the collector sends its spans; null when the environment asks for none.
 * @throws Error that says what is wrong with the receiver
 */
export type SendSpans = (() => Promise<void>) | null;

/** Does the OTLP receiver take an export, where spans are to be sent? */
export function otlpCheck(env: Environment, send: SendSpans): Check {
  const name = 'traces';
  return {
    name,
    async run() {
      if (send === null) {
        return [ok(name, 'Not sent: OTEL_EXPORTER_OTLP_ENDPOINT is not set, or traces are switched off.')];
      }
      const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
      const where = URL.canParse(endpoint) ? new URL(endpoint).host : 'the configured endpoint';
      try {
        await send();
        return [ok(name, `The OTLP receiver at ${where} takes spans.`)];
      } catch (error) {
        const advice =
          'Check OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, usually port 4318) and its headers.';
        return [fail(name, `${where}: ${(error as Error).message}.`, advice)];
      }
    },
  };
}
