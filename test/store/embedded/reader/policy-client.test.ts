import { duplexPair, type Duplex } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { receive, send, type PolicyQuestion } from '../../../../store/embedded/reader/messages.ts';
import {
  createPending,
  createReaderPolicy,
  type ReaderPolicyOptions,
} from '../../../../store/embedded/reader/policy-client.ts';

const REQUEST = {
  search: [],
  database: null,
  contentType: '',
  contentEncoding: '',
  body: Buffer.from('SELECT 1'),
};
const VERDICT = {
  params: [],
  statement: { kind: 'select', sql: 'SELECT 1', format: null, settings: [] },
} as const;
const silent = () => undefined;

describe('requests that wait for a verdict', () => {
  it('get the verdict of their own number', async () => {
    const pending = createPending(8, silent);
    const [one, two] = [pending.add(REQUEST), pending.add(REQUEST)];
    pending.settle({ id: two.question.id, verdict: VERDICT });
    await expect(two.verdict).resolves.toBe(VERDICT);
    expect(pending.questions()).toEqual([one.question]);
    pending.settle({ id: one.question.id, code: 62, message: 'Syntax error' });
    await expect(one.verdict).rejects.toMatchObject({ clickhouseCode: 62 });
  });

  it('are refused once as many wait as may', () => {
    const pending = createPending(1, silent);
    pending.add(REQUEST);
    expect(() => pending.add(REQUEST)).toThrow(expect.objectContaining({ clickhouseCode: 202 }));
    expect(pending.size).toBe(1);
  });

  it('are refused when judging took too long, and the log says how long the statement was', async () => {
    const log = vi.fn<ReaderPolicyOptions['log']>();
    const pending = createPending(8, log);
    const { question, verdict } = pending.add(REQUEST);
    pending.settle({ id: question.id, stuck: true });
    await expect(verdict).rejects.toMatchObject({ clickhouseCode: 159 });
    expect(log).toHaveBeenCalledWith('warn', expect.any(String), { bytes: 8 });
  });

  it('are asked again when a process ends under them, and given up at the third', async () => {
    const pending = createPending(8, silent);
    const { verdict } = pending.add(REQUEST);
    verdict.catch(silent);
    pending.lose(false);
    pending.lose(false);
    expect(pending.size).toBe(1);
    pending.lose(false);
    expect(pending.size).toBe(0);
    await expect(verdict).rejects.toMatchObject({ clickhouseCode: 236 });
  });

  it('are all given up with the last process', async () => {
    const pending = createPending(8, silent);
    const { verdict } = pending.add(REQUEST);
    pending.lose(true);
    await expect(verdict).rejects.toMatchObject({ clickhouseCode: 236 });
  });
});

describe('the policy of readers', () => {
  it('starts its process for the first request, and once more where that one ends', async () => {
    const ends: Duplex[] = [];
    const connect = async (): Promise<Duplex> => {
      const [near, far] = duplexPair();
      ends.push(far);
      const isFirst = ends.length === 1;
      receive<PolicyQuestion>(far, ({ id }) =>
        isFirst ? void near.destroy() : send(far, { id, verdict: VERDICT }),
      );
      return near;
    };
    const policy = createReaderPolicy({ connect, log: silent });
    await expect(policy.judge(REQUEST)).resolves.toEqual(VERDICT);
    expect(ends).toHaveLength(2);
    policy.close();
    await expect(policy.judge(REQUEST)).rejects.toMatchObject({ clickhouseCode: 236 });
  });
});
