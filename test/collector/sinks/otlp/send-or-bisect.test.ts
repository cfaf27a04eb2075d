import { describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import type { SpanData } from '../../../../schemas/span.ts';
import { sendOrBisect } from '../../../../collector/sinks/otlp/send-or-bisect.ts';

const spans = Array.from({ length: 9 }, (_, index) => ({ spanId: `${index}` }) as SpanData);

/** Takes requests without any of the bad spans. */
function receiver(bad: readonly string[]) {
  const taken: string[] = [];
  const send = async (some: readonly SpanData[]): Promise<void> => {
    if (some.some(({ spanId }) => bad.includes(spanId)))
      throw new GatewatchError('400', { code: 'export_refused', retryable: false });
    taken.push(...some.map(({ spanId }) => spanId));
  };
  return { send, taken };
}

describe('spans that the receiver refuses', () => {
  it('are found by halves, and hold up no others', async () => {
    const { send, taken } = receiver(['3', '8']);
    const refused = await sendOrBisect(spans, send);
    expect(refused.map(({ spanId }) => spanId)).toEqual(['3', '8']);
    expect(taken).toEqual(['0', '1', '2', '4', '5', '6', '7']);
  });

  it('are none of a receiver that fails in another way', async () => {
    const failing = async () => {
      throw new GatewatchError('stopped', { code: 'stopped', retryable: true });
    };
    await expect(sendOrBisect(spans, failing)).rejects.toMatchObject({ code: 'stopped' });
  });
});
