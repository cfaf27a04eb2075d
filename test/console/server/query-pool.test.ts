import { describe, expect, it } from 'vitest';
import { createQueryPool } from '../../../console/server/query-pool.ts';

/** A store whose answers come when the test says so. */
function slowStore() {
  const asked: { sql: string; answer: (text: string) => void; fail: (error: Error) => void }[] = [];
  return {
    asked,
    run: (sql: string) =>
      new Promise<string>((answer, fail) => {
        asked.push({ sql, answer, fail });
      }),
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the query pool', () => {
  it('asks the store once for equal statements, and again after a second', async () => {
    const store = slowStore();
    let now = 0;
    const query = createQueryPool({ run: store.run, now: () => now });
    const both = Promise.all([query('a'), query('a')]);
    store.asked[0]?.answer('first');
    expect(await both).toEqual(['first', 'first']);
    now = 999;
    expect(await query('a')).toBe('first');
    expect(store.asked).toHaveLength(1);
    now = 1000;
    void query('a');
    expect(store.asked).toHaveLength(2);
  });

  it('does not give a failure again', async () => {
    const store = slowStore();
    const query = createQueryPool({ run: store.run, now: () => 0 });
    const failing = query('a');
    store.asked[0]?.fail(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    void query('a');
    expect(store.asked).toHaveLength(2);
  });

  it('runs a few at once, the rest in their order, and refuses more than can wait', async () => {
    const store = slowStore();
    const query = createQueryPool({ run: store.run, now: () => 0, maxConcurrent: 2, maxWaiting: 2 });
    const answers = ['a', 'b', 'c', 'd'].map((sql) => query(sql));
    await expect(query('e')).rejects.toMatchObject({ code: 'store_busy', retryable: true });
    expect(store.asked.map(({ sql }) => sql)).toEqual(['a', 'b']);
    store.asked[0]?.fail(new Error('away'));
    await expect(answers[0]).rejects.toThrow('away');
    await settled();
    expect(store.asked.map(({ sql }) => sql)).toEqual(['a', 'b', 'c']);
    for (let i = 1; i < 4; i++) {
      store.asked[i]?.answer(`answer ${i}`);
      await settled();
    }
    expect(await Promise.all(answers.slice(1))).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('takes what stands further up on its page first', async () => {
    const store = slowStore();
    const query = createQueryPool({ run: store.run, now: () => 0, maxConcurrent: 1 });
    for (const [sql, place] of [
      ['running', 9],
      ['low', 20],
      ['top', 2],
      ['top too', 2],
      ['middle', 10],
    ] as const)
      // prettier-ignore
      void query(sql, { place });
    for (let i = 0; i < 5; i++) {
      store.asked[i]?.answer('');
      await settled();
    }
    expect(store.asked.map(({ sql }) => sql)).toEqual(['running', 'top', 'top too', 'middle', 'low']);
  });

  it('does not run what nobody waits for any more when its turn comes, and runs what somebody else asks', async () => {
    const store = slowStore();
    const query = createQueryPool({ run: store.run, now: () => 0, maxConcurrent: 1 });
    const [left, stayed] = [new AbortController(), new AbortController()];
    const first = query('first', { signal: left.signal });
    const gone = query('gone', { signal: left.signal });
    const shared = [query('shared', { signal: left.signal }), query('shared', { signal: stayed.signal })];
    left.abort();
    const refusal = gone.catch((error: unknown) => error);
    store.asked[0]?.answer('under way already');
    expect(await first).toBe('under way already');
    expect(await refusal).toMatchObject({ code: 'store_busy' });
    await settled();
    expect(store.asked.map(({ sql }) => sql)).toEqual(['first', 'shared']);
    store.asked[1]?.answer('for both');
    expect(await Promise.all(shared)).toEqual(['for both', 'for both']);
    void query('gone', { signal: stayed.signal });
    expect(store.asked.map(({ sql }) => sql)).toEqual(['first', 'shared', 'gone']);
  });
});
