import { GatewatchError } from '../../../schemas/errors.ts';
import type { SpanData } from '../../../schemas/span.ts';

/**
 * Sends spans, and finds those that the receiver refuses for good by sending ever smaller parts: one bad
 * span, or one request that is too large, must not hold up all others. Returns the refused ones.
 * @param send repeats by itself what can be repeated, and throws `export_refused`
 */
export async function sendOrBisect(
  spans: readonly SpanData[],
  send: (spans: readonly SpanData[]) => Promise<void>,
): Promise<SpanData[]> {
  try {
    await send(spans);
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (spans.length <= 1) return [...spans];
    const middle = spans.length >> 1;
    const refused = await sendOrBisect(spans.slice(0, middle), send);
    return [...refused, ...(await sendOrBisect(spans.slice(middle), send))];
  }
}

/** Does the receiver refuse these very spans? */
export const isRefusal = (error: unknown): boolean =>
  error instanceof GatewatchError && error.code === 'export_refused';
