import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts';
import { startGoodTraffic, type GoodReport } from '../support/good-traffic.ts';
import { startObserver, type Observed } from '../support/observer.ts';
import { sendBytes } from '../support/raw-connection.ts';
import { GATEWAYS, HOSTILE, type Hostile } from './messages.ts';
import { startSlowClients, type SlowReport } from './slow-clients.ts';

export interface IntakeAttackOptions {
  /** Hostile messages, of all kinds in turn. */
  readonly messages: number;
  /** Connections that drip. */
  readonly slow: number;
  /** Hostile messages under way at once. */
  readonly concurrency: number;
  /** Signed callbacks a second beside them. */
  readonly goodPerSecond: number;
  readonly seed: number;
  readonly say: (text: string) => void;
}

export interface IntakeAttackReport {
  readonly messages: number;
  readonly seed: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Messages by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Messages that got another answer than theirs: kind and answers, the first hundred. */
  readonly wrongAnswers: readonly string[];
  readonly slow: SlowReport;
  readonly good: Omit<GoodReport, 'acknowledged'>;
  /** Callbacks that were answered with 200 and are not in the store as valid. */
  readonly lost: number;
  /** Rows by verdict: as they should be, and as they are. */
  readonly verdicts: Readonly<Record<string, { readonly expected: number; readonly stored: number }>>;
  readonly observed: Observed;
  /** What the collector counted as turned back unread. */
  readonly refused: Readonly<Record<string, number>>;
}

const MAX_BODY_BYTES = 262_144;
const DEADLINE_MS = 30_000;

/** Attacks the intake of a collector of its own, while a gateway beside goes on as it should. */
export async function attackIntake(options: IntakeAttackOptions): Promise<IntakeAttackReport> {
  const { say } = options;
  const sandbox = await createSandbox();
  const collector = await startCollector(sandbox);
  try {
    const observer = startObserver({ url: collector.http, pid: collector.pid });
    const good = startGoodTraffic({
      url: `${collector.intake}/callbacks/${GATEWAYS.open}`,
      key: sandbox.callbackKey,
      perSecond: options.goodPerSecond,
      nextOrder: () =>
        sandbox.seedOrder({ status: 'Success', items: [{ action: '4.1.3.00', offsetMs: -5 }] }).externalId,
    });
    const slow = startSlowClients(collector.intake, options.slow);
    await slow.began;
    say(`${options.slow} slow clients, ${options.goodPerSecond} signed callbacks a second`);
    const startMs = performance.now();
    const { kinds, expected, wrongAnswers } = await sendAll(collector.intake, options);
    const seconds = (performance.now() - startMs) / 1000;
    const slowReport = slow.stop();
    const { acknowledged, ...goodReport } = await good.stop();
    const observed = await observer.stop();
    expected['valid'] = acknowledged.length;
    return {
      messages: options.messages,
      seed: options.seed,
      seconds: Math.round(seconds),
      perSecond: Math.round(options.messages / seconds),
      kinds,
      wrongAnswers,
      slow: slowReport,
      good: goodReport,
      lost: await countLost(collector, acknowledged),
      verdicts: await compareVerdicts(collector, expected),
      observed,
      refused: await readRefused(collector),
    };
  } finally {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  }
}

function startCollector(sandbox: Sandbox): Promise<CollectorProcess> {
  const gateway = { secureUrl: sandbox.secureUrl, token: sandbox.token, callbackKeys: [sandbox.callbackKey] };
  return startCollectorProcess({
    config: {
      gateways: [
        { ...gateway, name: GATEWAYS.open },
        { ...gateway, name: GATEWAYS.secret, callbackPathSecret: 'the-path-secret-of-the-gateway' },
        { ...gateway, name: GATEWAYS.fenced, callbackAddresses: ['203.0.113.0/24'] },
      ],
      http: { intake: { host: '127.0.0.1', port: 0 }, maxBodyBytes: MAX_BODY_BYTES },
    },
  });
}

interface Sent {
  readonly kinds: Record<string, number>;
  /** Rows by verdict that these messages should leave. */
  readonly expected: Record<string, number>;
  readonly wrongAnswers: string[];
}

async function sendAll(intake: string, options: IntakeAttackOptions): Promise<Sent> {
  const sent: Sent = { kinds: {}, expected: {}, wrongAnswers: [] };
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
      const rows = hostile.verdict === undefined ? 0 : hostile.answers.length;
      if (hostile.verdict !== undefined)
        sent.expected[hostile.verdict] = (sent.expected[hostile.verdict] ?? 0) + rows;
      const isCutOff = hostile.mayBeCutOff === true && answers.statuses.length === 0 && !answers.hung;
      const isRight = answers.statuses.join() === hostile.answers.join() && !answers.hung;
      if (!isRight && !isCutOff && sent.wrongAnswers.length < 100)
        sent.wrongAnswers.push(`${hostile.kind}: ${answers.statuses.join()}${answers.hung ? ' hung' : ''}`);
      if (index % 10_000 === 9_999) options.say(`${index + 1} hostile messages`);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return sent;
}

async function compareVerdicts(
  collector: CollectorProcess,
  expected: Readonly<Record<string, number>>,
): Promise<IntakeAttackReport['verdicts']> {
  const rows = await collector.query<{ verdict: string; n: number }>(
    'SELECT verdict, toUInt32(count()) AS n FROM callbacks GROUP BY verdict',
  );
  const stored = new Map(rows.map(({ verdict, n }) => [verdict, n]));
  const verdicts = new Set([...Object.keys(expected), ...stored.keys()]);
  return Object.fromEntries(
    [...verdicts].map((verdict) => [
      verdict,
      { expected: expected[verdict] ?? 0, stored: stored.get(verdict) ?? 0 },
    ]),
  );
}

async function countLost(collector: CollectorProcess, acknowledged: readonly string[]): Promise<number> {
  const rows = await collector.query<{ external_id: string }>(
    "SELECT external_id FROM callbacks WHERE verdict = 'valid'",
  );
  const stored = new Set(rows.map((row) => row.external_id));
  return acknowledged.filter((id) => !stored.has(id)).length;
}

async function readRefused(collector: CollectorProcess): Promise<Record<string, number>> {
  const text = await (await fetch(`${collector.http}/metrics`)).text();
  const lines = text.matchAll(/^gatewatch_http_refused_total\{([^}]*)\} (\d+)/gm);
  return Object.fromEntries(
    Array.from(lines, ([, labels = '', n]) => [/reason="([^"]*)"/.exec(labels)?.[1] ?? '', Number(n)]),
  );
}

/** mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
