import { trace, TraceFlags } from '@opentelemetry/api';
import type { SpanRef } from '../../schemas/span.ts';

/** The collector's own span that is under way where it is asked, e.g. that of a status request. */
export interface OwnSpan {
  /** null: there is none, or it is not sampled, so that nobody will ever see it. */
  current(): SpanRef | null;
  /** Links it to a span of another trace. */
  link(to: SpanRef): void;
}

/** By the OpenTelemetry API: finds nothing as long as no SDK that makes spans is registered. */
export const activeSpan: OwnSpan = {
  current() {
    const context = trace.getActiveSpan()?.spanContext();
    const isSampled = context !== undefined && (context.traceFlags & TraceFlags.SAMPLED) !== 0;
    return isSampled ? { traceId: context.traceId, spanId: context.spanId } : null;
  },
  link(to) {
    trace.getActiveSpan()?.addLink({ context: { ...to, traceFlags: TraceFlags.SAMPLED } });
  },
};
