import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { gatewayConfig } from '../../integration/support/gateway.ts';
import {
  readerPassword,
  startCollectorProcess,
  type CollectorProcess,
} from '../../support/collector-process.ts';
import { lookAtReadiness, type Readiness } from '../support/readiness.ts';
import { sendGoodCallbacks, type GoodCallbacks } from '../support/good-callbacks.ts';
import { aimed } from './attack.ts';
import { BOMBS, holdConnections } from './bombs.ts';
import { sendAs } from './send.ts';

export interface BesideOptions {
  /** Each of calm and attack lasts so long. */
  readonly seconds: number;
  /** Signed callbacks a second. */
  readonly rate: number;
  /** Bombs at once. */
  readonly bombs: number;
  /** Connections that are held open. */
  readonly connections: number;
  readonly say: (text: string) => void;
}

interface Phase {
  readonly callbacks: GoodCallbacks;
  readonly readiness: Readiness;
}

export interface BesideReport {
  readonly calm: Phase;
  readonly attacked: Phase;
  /** What became of the bombs, by ClickHouse's code. */
  readonly answers: Readonly<Record<string, number>>;
  /** Callbacks that were answered with 200 and are not in the store. */
  readonly lost: number;
}

/**
 * A collector with its embedded store takes signed callbacks, first in peace, then while somebody with the
 * reader's password throws at the store whatever costs most.
 */
export async function attackBeside(options: BesideOptions): Promise<BesideReport> {
  const sandbox = await createSandbox();
  const config = { gateways: [gatewayConfig(sandbox)], http: { port: 0 } };
  await using collector = await startCollectorProcess({ config });
  try {
    options.say('in peace');
    const calm = await watch(sandbox, collector, options);
    options.say('under attack');
    const answers: Record<string, number> = {};
    const ended = new AbortController();
    const held = holdConnections(Number(new URL(collector.store).port), options.connections);
    const attackers = Array.from({ length: options.bombs }, (_, first) =>
      throwBombs(collector, first, ended.signal, answers),
    );
    const attacked = await watch(sandbox, collector, options);
    ended.abort();
    held.close();
    await Promise.all(attackers);
    const [row] = await collector.query<{ n: number }>(
      "SELECT toUInt32(sum(deliveries)) AS n FROM callbacks WHERE verdict = 'valid'",
    );
    // One that was answered otherwise may have been stored all the same, and would be sent again.
    const lost = Math.max(0, calm.callbacks.accepted + attacked.callbacks.accepted - (row?.n ?? 0));
    return { calm, attacked, answers, lost };
  } finally {
    await sandbox.stop();
  }
}

async function watch(
  sandbox: Sandbox,
  collector: CollectorProcess,
  { seconds, rate }: BesideOptions,
): Promise<Phase> {
  const key = sandbox.callbackKey;
  const url = `${collector.intake}/callbacks/sandbox`;
  const looking = lookAtReadiness(`${collector.http}/readyz`);
  const callbacks = await sendGoodCallbacks({ url, key, rate, seconds });
  return { callbacks, readiness: await looking.stop() };
}

async function throwBombs(
  { store, dataDir }: CollectorProcess,
  first: number,
  ended: AbortSignal,
  answers: Record<string, number>,
): Promise<void> {
  const password = readerPassword(dataDir);
  const paths = { secret: '/etc/passwd', writer: `${dataDir}/writer.secret`, out: `${dataDir}/out` };
  for (let next = first; !ended.aborted; next += 1) {
    const bomb = BOMBS[next % BOMBS.length];
    if (bomb === undefined) return;
    const { code } = await sendAs(
      { url: store, username: 'gatewatch_reader', password },
      aimed(bomb, paths),
      ended,
    );
    if (!ended.aborted) answers[code] = (answers[code] ?? 0) + 1;
  }
}
