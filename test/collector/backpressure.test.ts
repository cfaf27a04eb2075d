import { describe, expect, it } from 'vitest';
import { createBackpressure } from '../../collector/backpressure.ts';
import { createMemorySink } from '../../collector/sinks/memory/sink.ts';

describe('backpressure', () => {
  it('turns input back once the store has been away for two seconds, and takes it again when it is back', () => {
    let nowMs = 0;
    const memory = createMemorySink();
    const check = createBackpressure(memory, () => nowMs);
    check();
    memory.hold();
    void memory.write({}).catch(() => {});
    check();
    nowMs = 1_999;
    check();
    nowMs = 2_000;
    expect(check).toThrow(expect.objectContaining({ code: 'store_unavailable', retryable: true }) as Error);
    memory.release();
    check();
    memory.hold();
    void memory.write({}).catch(() => {});
    nowMs = 9_000;
    check();
  });

  it('is patient anew with a store that was back meanwhile, although nobody asked then', async () => {
    let nowMs = 0;
    const memory = createMemorySink();
    const check = createBackpressure(memory, () => nowMs);
    memory.hold();
    const write = memory.write({});
    check();
    memory.release();
    await write;
    memory.hold();
    void memory.write({}).catch(() => {});
    nowMs = 60_000;
    check();
    nowMs = 62_000;
    expect(check).toThrow(expect.objectContaining({ code: 'store_unavailable' }) as Error);
  });
});
