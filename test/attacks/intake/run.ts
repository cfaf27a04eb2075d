import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts';
import { countLost, seedPaidOrder, startGoodTraffic, type GoodReport } from '../support/good-traffic.ts';
import { startObserver, type Observed } from '../support/observer.ts';
import { GATEWAYS, MAX_BODY_BYTES } from './messages.ts';
import type { SlowReport } from './slow-clients.ts';
import type { StrangersOptions, StrangersReport } from './strangers.ts';

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

/** Rows of one verdict. */
export interface Rows {
  /** Their messages were answered with 200. */
  readonly expected: number;
  /** Their messages were answered with 503: they may be stored or not. */
  readonly unsure: number;
  readonly stored: number;
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
  readonly verdicts: Readonly<Record<string, Rows>>;
  readonly observed: Observed;
  /** What the collector counted as turned back unread. */
  readonly refused: Readonly<Record<string, number>>;
}

const STRANGERS = fileURLToPath(new URL('strangers.ts', import.meta.url));

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
      nextOrder: () => seedPaidOrder(sandbox),
    });
    say(`${options.slow} slow clients, ${options.goodPerSecond} signed callbacks a second`);
    const strangers = await runStrangers({ ...options, intake: collector.intake });
    const { kinds, expected, unsure, wrongAnswers, seconds } = strangers;
    const { acknowledged, ...goodReport } = await good.stop();
    const observed = await observer.stop();
    return {
      messages: options.messages,
      seed: options.seed,
      seconds: Math.round(seconds),
      perSecond: Math.round(options.messages / seconds),
      kinds,
      wrongAnswers,
      slow: strangers.slow,
      good: goodReport,
      lost: await countLost(collector, acknowledged),
      verdicts: await compareVerdicts(
        collector,
        { ...expected, valid: acknowledged.length },
        { ...unsure, valid: goodReport.sent - acknowledged.length },
      ),
      observed,
      refused: await readRefused(collector),
    };
  } finally {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  }
}

/** In a process of their own. */
async function runStrangers(options: StrangersOptions): Promise<StrangersReport> {
  const { intake, messages, slow, concurrency, seed } = options;
  const child = fork(STRANGERS, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    child.send({ intake, messages, slow, concurrency, seed } satisfies StrangersOptions);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The process of the strangers ended with ${String(code)} and no report`);
    });
    const [report] = (await Promise.race([once(child, 'message'), ended])) as [StrangersReport];
    ended.catch(() => undefined);
    return report;
  } finally {
    child.kill();
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

async function compareVerdicts(
  collector: CollectorProcess,
  expected: Readonly<Record<string, number>>,
  unsure: Readonly<Record<string, number>>,
): Promise<IntakeAttackReport['verdicts']> {
  const rows = await collector.query<{ verdict: string; n: number }>(
    'SELECT verdict, toUInt32(count()) AS n FROM callbacks GROUP BY verdict',
  );
  const stored = new Map(rows.map(({ verdict, n }) => [verdict, n]));
  const verdicts = new Set([...Object.keys(expected), ...stored.keys()]);
  return Object.fromEntries(
    [...verdicts].map((verdict) => [
      verdict,
      {
        expected: expected[verdict] ?? 0,
        unsure: unsure[verdict] ?? 0,
        stored: stored.get(verdict) ?? 0,
      },
    ]),
  );
}

async function readRefused(collector: CollectorProcess): Promise<Record<string, number>> {
  const text = await (await fetch(`${collector.http}/metrics`)).text();
  const lines = text.matchAll(/^gatewatch_http_refused_total\{([^}]*)\} (\d+)/gm);
  return Object.fromEntries(
    Array.from(lines, ([, labels = '', n]) => [/reason="([^"]*)"/.exec(labels)?.[1] ?? '', Number(n)]),
  );
}
