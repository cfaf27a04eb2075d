import type { SpanExporterStatus } from '../../../schemas/sink.ts';
import type { OtlpProtocol } from '../../telemetry/otel-env.ts';
import { createOtlpSender } from './sender.ts';
import { createSpanExporter, type SpanExporterOptions } from './span-exporter.ts';

export interface SpanExportOptions extends Omit<SpanExporterOptions, 'sender'> {
  /** Of gatewatch. */
  readonly version: string;
  /** Does the configuration name a receiver? */
  readonly isWanted: boolean;
  readonly protocol: OtlpProtocol;
}

/** The export of spans where it is wanted, from the moment at which the store's schema is in place. */
export interface SpanExport {
  start(): void;
  /** Reports that a batch has been acknowledged. */
  notify(batchSeq: number): void;
  /** null: there is no export, or not yet. */
  status(): SpanExporterStatus | null;
  /** Exports what is stored already, within `graceMs`. Never rejects; what is left waits in the store. */
  stop(graceMs: number): Promise<void>;
}

export function createSpanExport({ version, isWanted, protocol, ...options }: SpanExportOptions): SpanExport {
  let exporter: ReturnType<typeof createSpanExporter> | null = null;
  return {
    start() {
      if (!isWanted) return;
      const sender = createOtlpSender({ version, protocol });
      exporter = createSpanExporter({ ...options, sender });
    },
    notify: (batchSeq) => exporter?.notify(batchSeq),
    status: () => exporter?.status() ?? null,
    stop: async (graceMs) => exporter?.stop(graceMs),
  };
}
