import type { Command } from 'commander';
import type { CountedOrder } from '../../alerts/explain/counted-order.ts';
import type { OrderQuery } from '../../schemas/order-timeline.ts';
import type { OpenedStore } from '../../store/open.ts';
import { EXIT, type ExitCode, printJson, type CommandContext } from '../command-context.ts';
import { addOrderIdOptions, orderQueryOf, type OrderIdOptions } from '../options.ts';
import { printable, type Host } from '../terminal/host.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';

interface ExplainOrderOptions extends OrderIdOptions {
  readonly json?: true;
}

const HELP = `
Why is my number different? Shows for every measure of the dashboards and every rule that counts orders whether this one
counts, since when, and why it does not in others; and which evaluations of a rule had it in their window. The answers
come from the SQL that panels and rules use.

Exit codes: 0 shown, 1 nothing is known of such an order, 2 bad usage.

Examples:
  $ gatewatch explain-order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d
  $ gatewatch explain-order merchant-1001 --by transaction-id
  $ gatewatch explain-order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d --json | jq -r '.rules[] | select(.counts == "affected").rule'`;

export function addExplainOrder(program: Command, context: CommandContext): void {
  const command = program
    .command('explain-order')
    .description('in which measures and rules does an order count, and why not in others?')
    .argument('<id>', "the order's id");
  addOrderIdOptions(command, { gateway: 'any', type: 'any', by: 'either' })
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, _options: object, self: Command) => {
      context.exitCode = await explainOrder(context.host, id, self.optsWithGlobals<ExplainOrderOptions>());
    });
}

async function explainOrder(host: Host, id: string, options: ExplainOrderOptions): Promise<ExitCode> {
  const wanted = orderQueryOf(id, options);
  const { RULES } = await import('../../alerts/rules/all.ts');
  const { whereOrderCounts } = await import('../../alerts/explain/where-order-counts.ts');
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const order = await orderOf(opened, wanted);
    if (order === null) {
      await host.stderr.write(
        `Nothing is known of an order ${printable(id)}. "gatewatch watch ${printable(id)}" has it read from the gateway.\n`,
      );
      return EXIT.failed;
    }
    const query = <T>(sql: string): Promise<T[]> => opened.store.query<T>(sql);
    const counts = await withProgress(host, 'asking every rule', whereOrderCounts(query, order, RULES));
    if (options.json === true) await printJson(host, counts);
    else {
      const { drawCounts } = await import('../terminal/draw-counts.ts');
      await host.stdout.write(drawCounts(host.stdout, counts));
    }
    return EXIT.done;
  } finally {
    await opened.close();
  }
}

/**
 * The order in the store's terms; null when nothing is known of it, or no reply has named the service's id.
 */
async function orderOf(opened: OpenedStore, wanted: OrderQuery): Promise<CountedOrder | null> {
  const { readOrderTimeline } = await import('../../store/order-timeline.ts');
  const timeline = await readOrderTimeline((text, params) => opened.store.query(text, params), wanted);
  const found = timeline?.order;
  return found?.externalId == null
    ? null
    : { gateway: found.gateway, orderType: found.orderType, externalId: found.externalId };
}
