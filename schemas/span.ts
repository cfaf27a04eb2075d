import type { EpochMicros } from './rows.ts';

/** Names one span of one trace, e.g. as the target of a link. */
export interface SpanRef {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

export interface SpanEvent {
  readonly at: EpochMicros;
  readonly name: string;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/**
 * One payment span as data: what leaves the collector, before any library sees it. What it says is fixed by
 * `span-contract.ts`.
 */
export interface SpanData extends SpanRef {
  readonly parentSpanId: string | null;
  /** The gateway: each is a service of its own. */
  readonly service: string;
  readonly name: string;
  readonly start: EpochMicros;
  readonly end: EpochMicros;
  /** W3C's `tracestate`. @default none */
  readonly traceState?: string;
  readonly error: { readonly message: string } | null;
  readonly attributes: Attributes;
  /** In time order. They may lie after the span: an item is read after it happened. */
  readonly events: readonly SpanEvent[];
  /** The collector's own spans that delivered this one. */
  readonly links: readonly SpanRef[];
}

const REF = /^[0-9a-f]{32}-[0-9a-f]{16}$/;

/** A span as one text, `traceId-spanId`; '' for none. */
export const spanRefText = (ref: SpanRef | null): string =>
  ref === null ? '' : `${ref.traceId}-${ref.spanId}`;

/** The span that a text of `spanRefText` names; null for none and for any other text. */
export function readSpanRef(text: string): SpanRef | null {
  return REF.test(text) ? { traceId: text.slice(0, 32), spanId: text.slice(33) } : null;
}
