import { setPriority } from 'node:os';
import { randomFrom } from '../../support/random.ts';
import { sendBytes } from '../support/raw-connection.ts';
import { HOSTILE, MAX_BODY_BYTES, type Hostile } from './messages.ts';
import { startSlowClients, type SlowReport } from './slow-clients.ts';

/** The orders to the process of the strangers; it answers with StrangersReport and ends. */
export interface StrangersOptions {
  readonly intake: string;
  readonly messages: number;
  readonly slow: number;
  readonly concurrency: number;
  readonly seed: number;
}

export interface StrangersReport extends Sent {
  readonly slow: SlowReport;
  readonly seconds: number;
}

const DEADLINE_MS = 60_000;
/**
 * Real strangers bring machines of their own: what they compute must not take the collector's processor time.
 */
const LOW_PRIORITY = 15;

/** What became of the hostile messages. */
export interface Sent {
  readonly kinds: Record<string, number>;
  /** Rows by verdict that these messages should leave. */
  readonly expected: Record<string, number>;
  /** Of those answered with 503, which may have left a row or not. */
  readonly unsure: Record<string, number>;
  readonly wrongAnswers: string[];
}

async function sendAll(options: StrangersOptions): Promise<Sent> {
  const { intake } = options;
  const sent: Sent = { kinds: {}, expected: {}, unsure: {}, wrongAnswers: [] };
  const random = randomFrom(options.seed);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < options.messages; index = next++) {
      const hostile = HOSTILE[index % HOSTILE.length] as Hostile;
      const bytes = hostile.bytes({
        nonce: `n${options.seed}-${index}`,
        random,
        maxBodyBytes: MAX_BODY_BYTES,
      });
      // Many senders: the answer to too many requests of one would hide all others.
      const from = `127.0.1.${1 + (index % 200)}`;
      const hangUp = hostile.hangsUp === true;
      const answers = await sendBytes(intake, from, bytes, { deadlineMs: DEADLINE_MS, hangUp });
      sent.kinds[hostile.kind] = (sent.kinds[hostile.kind] ?? 0) + 1;
      const isCutOff = hostile.mayBeCutOff === true && answers.statuses.length === 0 && !answers.hung;
      if (hostile.verdict !== undefined) note(sent, hostile.verdict, answers.statuses);
      // 503 is an honest answer of a store that is too slow: it is counted by itself.
      const given = answers.statuses.map((status) =>
        status === 503 && hostile.verdict !== undefined ? 200 : status,
      );
      const isRight = given.join() === hostile.answers.join() && !answers.hung;
      if (!isRight && !isCutOff && sent.wrongAnswers.length < 100)
        sent.wrongAnswers.push(`${hostile.kind}: ${answers.statuses.join()}${answers.hung ? ' hung' : ''}`);
      if (index % 10_000 === 9_999) process.stderr.write(`${index + 1} hostile messages\n`);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return sent;
}

function note(sent: Sent, verdict: string, statuses: readonly number[]): void {
  for (const status of statuses) {
    const counts = status === 503 ? sent.unsure : sent.expected;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
}

async function attack(options: StrangersOptions): Promise<StrangersReport> {
  const slow = startSlowClients(options.intake, options.slow);
  await slow.began;
  const startMs = performance.now();
  const sent = await sendAll(options);
  return { ...sent, slow: slow.stop(), seconds: (performance.now() - startMs) / 1000 };
}

setPriority(LOW_PRIORITY);
process.once('message', (options: StrangersOptions) => {
  void attack(options).then((report) => process.send?.(report, () => process.disconnect()));
});
