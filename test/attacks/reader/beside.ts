import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { gatewayConfig } from '../../integration/support/gateway.ts';
import {
  readerPassword,
  startCollectorProcess,
  type CollectorProcess,
} from '../../support/collector-process.ts';
import { countLost, seedPaidOrder, startGoodTraffic, type GoodReport } from '../support/good-traffic.ts';
import { startObserver, type Observed } from '../support/observer.ts';
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
  readonly callbacks: Omit<GoodReport, 'acknowledged'>;
  readonly observed: Observed;
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
    const lost = await countLost(collector, [...calm.acknowledged, ...attacked.acknowledged]);
    return { calm: shown(calm), attacked: shown(attacked), answers, lost };
  } finally {
    await sandbox.stop();
  }
}

const shown = ({ callbacks, observed }: Phase): Phase => ({ callbacks, observed });

async function watch(
  sandbox: Sandbox,
  collector: CollectorProcess,
  { seconds, rate }: BesideOptions,
): Promise<Phase & { acknowledged: readonly string[] }> {
  const observer = startObserver({ url: collector.http, pid: collector.pid });
  const traffic = startGoodTraffic({
    url: `${collector.intake}/callbacks/sandbox`,
    key: sandbox.callbackKey,
    perSecond: rate,
    nextOrder: () => seedPaidOrder(sandbox),
  });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const { acknowledged, ...callbacks } = await traffic.stop();
  return { callbacks, observed: await observer.stop(), acknowledged };
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
