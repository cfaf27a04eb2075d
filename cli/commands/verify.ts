import { noSuchRule, readRuleName } from '../../schemas/rule-name.ts';
import type { Command } from 'commander';
import type { CascadeAnswer, CascadeResult } from '../../schemas/cascade-safety.ts';
import type { OrderToVerify } from '../../operate/verify/verify-orders.ts';
import { EXIT, printJson, usageError, type CommandContext } from '../command-context.ts';
import { addOrderIdOptions, type OrderIdOptions } from '../options.ts';
import { createProgressBar, progressOn, withProgress } from '../terminal/progress.ts';
import { printable, type Host } from '../terminal/host.ts';

interface VerifyOptions extends OrderIdOptions {
  readonly fromAlert?: string;
  readonly label?: string;
  readonly since?: string;
  readonly json?: true;
}

const HELP = `
Reads the status now, by both ids where both are known, and says whether the payment may be sent to another provider:
  safe     every status says Failed, and nothing that is known says otherwise
  unsafe   the payment went through, or may still
  unknown  the gateway gave no valid answer, or the evidence disagrees: not to be sent elsewhere either
Asks the running collector, else the gateways of the configuration, with what the store knows. After a create request
that broke off you know your own id only: say --by transaction-id.

With --from-alert the orders of the rule's newest incident are verified (--gateway and --label choose another one), since
--since where that is earlier than the alert's window.

Exit codes, of the worst order: 0 safe, 1 unsafe (or the command failed), 2 bad usage, 3 unknown. Cascade on 0 only.

Examples:
  $ gatewatch verify 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d
  $ gatewatch verify payment-4711 --by transaction-id --gateway acme-eu && ./cascade payment-4711
  $ gatewatch verify --from-alert GatewatchTechTimeouts --since 2h
  $ gatewatch verify --from-alert GatewatchTechTimeouts --json | jq -r '.orders[] | select(.verdict == "safe").order.externalId'`;

export function addVerify(program: Command, context: CommandContext): void {
  const command = program
    .command('verify')
    .description('may a payment be sent to another provider?')
    .argument('[id...]', "the orders' ids");
  addOrderIdOptions(command, { gateway: 'the only one', type: 'as known, else Deposit', by: 'as known' })
    .option('--from-alert <rule>', 'verify the orders of this rule instead')
    .option('--label <label>', 'stage, reason, side or state that the page names (default: any)')
    .option('--since <time>', 'orders since then: ISO 8601 (UTC), or how long ago, e.g. 2h')
    .option('--json', 'one JSON object: the answers, and a summary')
    .addHelpText('after', HELP)
    .action(async (ids: string[], _options: object, self: Command) => {
      context.exitCode = await verify(context.host, ids, self.optsWithGlobals<VerifyOptions>());
    });
}

async function verify(host: Host, ids: readonly string[], options: VerifyOptions): Promise<number> {
  const orders = await ordersOf(host, ids, options);
  if (orders.length === 0) {
    await host.stderr.write('There are no orders to verify.\n');
    return EXIT.unknown;
  }
  const { summaryOf, worstVerdict } = await import('../../operate/verify/verify-orders.ts');
  const answers = await answersFor(host, orders, options);
  if (options.json === true) await printJson(host, { orders: answers, summary: summaryOf(answers) });
  else {
    const { drawAnswer, drawAnswers } = await import('../terminal/draw-safety.ts');
    const [only, ...more] = answers;
    const text =
      only !== undefined && more.length === 0
        ? drawAnswer(host.stdout, only)
        : drawAnswers(host.stdout, answers, summaryOf(answers));
    await host.stdout.write(text);
  }
  return { safe: EXIT.done, unsafe: EXIT.failed, unknown: EXIT.unknown }[worstVerdict(answers)];
}

async function ordersOf(
  host: Host,
  ids: readonly string[],
  options: VerifyOptions,
): Promise<readonly OrderToVerify[]> {
  const { fromAlert, gateway, type, by } = options;
  if (fromAlert !== undefined) {
    if (ids.length > 0) throw usageError('either ids or --from-alert, not both');
    return alertOrders(host, fromAlert, options);
  }
  if (ids.length === 0) throw usageError('expected ids of orders, or --from-alert with the name of a rule');
  if (ids.some((id) => id === '' || id.length > 200)) throw usageError('an id: expected 1 to 200 characters');
  const narrowed = Object.entries({ gateway, type, by }).filter(([, value]) => value !== undefined);
  return [...new Set(ids)].map((id) => ({ id, ...Object.fromEntries(narrowed) }));
}

async function alertOrders(host: Host, name: string, options: VerifyOptions): Promise<OrderToVerify[]> {
  const { RULES } = await import('../../alerts/rules/all.ts');
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { newestBreach } = await import('../../alerts/evaluate/evaluation-store.ts');
  const { readIncidentOrders } = await import('../../alerts/explain/incident-orders.ts');
  const { instant } = await import('../../alerts/backtest/times.ts');
  const rule = RULES.find((one) => one.name === readRuleName(name));
  if (rule === undefined) throw usageError(noSuchRule(name));
  const now = new Date();
  const since = options.since === undefined ? undefined : instant(options.since, now);
  if (since === null) throw usageError(`--since: expected a time or a duration, received ${options.since}`);
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const query = <T>(sql: string): Promise<T[]> => opened.store.query<T>(sql);
    const { gateway, label } = options;
    const breach = await newestBreach(query, { rule: rule.name, gateway, label, atMs: now.getTime() });
    if (breach === null) return [];
    const orders = await readIncidentOrders(query, rule, breach, since?.getTime());
    if (orders === null) throw usageError(`${rule.name} is about no orders that could be verified`);
    return orders.map(({ gateway: at, orderType, externalId }) => ({
      id: externalId,
      gateway: at,
      type: orderType,
      by: 'external-id',
    }));
  } finally {
    await opened.close();
  }
}

async function answersFor(
  host: Host,
  orders: readonly OrderToVerify[],
  options: VerifyOptions,
): Promise<CascadeAnswer[]> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { collectorUrl } = await import('../../operate/collector-client.ts');
  const { askCascadeSafety } = await import('../../operate/verify/ask-collector.ts');
  const { verifyOrders } = await import('../../operate/verify/verify-orders.ts');
  const { http, cascadeSafety } = loadPartialConfig(options.config, host.env, ['http', 'cascadeSafety']);
  const url = collectorUrl({ http });
  let direct: Promise<DirectVerifier> | null = null;
  const verifyOne = async (order: OrderToVerify): Promise<CascadeResult> => {
    const answer = direct === null ? await askCascadeSafety(url, order, cascadeSafety.deadlineMs) : undefined;
    if (answer !== undefined) return answer;
    direct ??= openDirectly(host, options);
    return (await direct).verify(order);
  };
  const bar = createProgressBar(host.stderr, orders.length);
  try {
    const verifying = verifyOrders(orders, verifyOne, (done) => bar.show(done, `${done} verified`));
    const { answers, refusal } =
      orders.length === 1 ? await withProgress(host, 'reading the status', verifying) : await verifying;
    if (refusal !== null) throw usageError(printable(refusal));
    return answers;
  } finally {
    bar.clear();
    await (direct as Promise<DirectVerifier> | null)?.then(
      (one) => one.close(),
      () => undefined,
    );
  }
}

interface DirectVerifier {
  readonly verify: (order: OrderToVerify) => Promise<CascadeResult>;
  close(): Promise<void>;
}

/** Without a collector: the gateways of the configuration, and the store where it can be opened. */
async function openDirectly(host: Host, options: VerifyOptions): Promise<DirectVerifier> {
  const { loadConfig } = await import('../../collector/config/load.ts');
  const { createOfflineVerifier } = await import('../../collector/offline.ts');
  const { openStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../schemas/system-clock.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, { progress: progressOn(host) }).catch((error: unknown) => {
    void host.stderr.write(
      `${host.stderr.paint('yellow', 'note:')} no collector answers, and the store cannot be opened, so that nothing can be called safe: ${printable((error as Error).message)}\n`,
    );
    return null;
  });
  const { deadlineMs } = config.cascadeSafety;
  const store = opened?.store ?? null;
  const verifier = createOfflineVerifier({
    gateways: config.gateways,
    deadlineMs,
    store,
    clock: systemClock,
    env: host.env,
  });
  return {
    verify: verifier.verify,
    async close() {
      await verifier.stop();
      await opened?.close();
    },
  };
}
