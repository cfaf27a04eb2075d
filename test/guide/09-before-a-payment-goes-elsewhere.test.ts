import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cascadeAnswerSchema } from '../../schemas/cascade-safety.ts';
import { readDocument } from '../docs/markdown.ts';
import { plainEnvironment } from '../support/collector-process.ts';
import { GATEWAY, runCommand, type Scene, startScene } from './support/scene.ts';

/**
 * BEFORE A PAYMENT GOES ELSEWHERE
 *
 * A router sends a payment to another provider when one has failed it. The interface demands that the status
 * be read before (section 1): a create request that broke off says nothing about the payment. Here is the
 * question, asked as `docs/cascading.md` shows it, by the very programs that stand there.
 */
describe('before a payment goes elsewhere', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene();
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const order = (status: string) => scene.gateway.seedOrder({ status, items: [] });
  const ask = async (id: string) => {
    const query = `gateway=${GATEWAY}&type=Deposit&by=transaction-id`;
    const reply = await fetch(`${scene.collector.http}/orders/${id}/cascade-safety?${query}`);
    return cascadeAnswerSchema.parse(await reply.json());
  };

  it('1. failed is safe, under way and paid are not, and no answer is unknown', async () => {
    const verdictOf = async (status: string) => (await ask(order(status).externalTransactionId)).verdict;
    expect(await verdictOf('Failed')).toBe('safe');
    expect(await verdictOf('Processing')).toBe('unsafe');
    expect(await verdictOf('Success')).toBe('unsafe');
    const { id } = scene.gateway.faults.add({ name: 'http_503', endpoint: 'status' });
    expect(await verdictOf('Failed')).toBe('unknown');
    scene.gateway.faults.remove(id);
  });

  it('2. the answer says what it rests on', async () => {
    const { externalId, externalTransactionId } = order('Failed');
    const { rule, section, requests, known } = await ask(externalTransactionId);
    expect({ rule, section }).toEqual({ rule: 'failed', section: '1, rule 2' });
    // The shop knew its own id. The reply named the gateway's: that was asked for as well.
    expect(requests.map(({ id, orderStatus }) => [id, orderStatus])).toEqual([
      [externalTransactionId, 'Failed'],
      [externalId, 'Failed'],
    ]);
    expect(known).toMatchObject({ status: null, callback: null });
  });

  it('3. one word of success, ever, and it is safe no more', async () => {
    const { externalId, externalTransactionId } = order('Failed');
    await scene.sendCallback({ externalId, status: 'Success' });
    expect(await ask(externalTransactionId)).toMatchObject({ verdict: 'unsafe', rule: 'success_callback' });
  });

  it('4. by hand, the exit code is the verdict', async () => {
    const codeOf = async (id: string) =>
      (await runCommand('verify', id, '--config', scene.collector.configFile)).code;
    expect(await codeOf(order('Failed').externalId)).toBe(0);
    expect(await codeOf(order('Processing').externalId)).toBe(1);
    expect(await codeOf('no-such-order')).toBe(3);
  });

  const programs = [
    ['sh', (code: string) => ['bash', '-c', `${code}\nmay_cascade "$0" && echo yes || echo no`]],
    [
      'js',
      (code: string) => [
        'node',
        '-e',
        `${code}\nmayCascade(process.argv[1]).then((may) => console.log(may ? 'yes' : 'no'))`,
      ],
    ],
    [
      'python',
      (code: string) => [
        'python3',
        '-c',
        `${code}\nimport sys\nprint("yes" if may_cascade(sys.argv[1]) else "no")`,
      ],
    ],
  ] as const;

  it.each(programs)(
    '5. a router that asks as the page shows in %s goes on only with safe',
    async (language, commandOf) => {
      const page = readDocument('docs/cascading.md');
      const code = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
      const answerTo = async (id: string, url = scene.collector.http): Promise<string> => {
        const [program = '', ...args] = commandOf(code);
        const child = spawn(program, [...args, id], {
          env: { ...plainEnvironment(), GATEWATCH_URL: url },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
        return printed.trim();
      };
      expect(await answerTo(order('Failed').externalTransactionId)).toBe('yes');
      expect(await answerTo(order('Processing').externalTransactionId)).toBe('no');
      expect(await answerTo('no-such-order')).toBe('no');
      expect(await answerTo('anything', 'http://127.0.0.1:1')).toBe('no');
    },
  );
});
