import type { Command } from 'commander';
import { orderTimelineSchema, type OrderQuery, type OrderTimeline } from '../../schemas/order-timeline.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { askCollector, collectorUrl, problemDetail } from '../../operate/collector-client.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { printable, type Host } from '../terminal/host.ts';
import { addOrderIdOptions, idInShell, orderQueryOf, type OrderIdOptions } from '../options.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';
import type { StoreConfig } from '../../schemas/config.ts';

interface OrderOptions extends OrderIdOptions {
  readonly json?: true;
}

const HELP = `
Asks the running collector, else reads the store itself. Marks: '=' the item that decides the outcome, '+' an item that
came after a final state had been seen (histories are completed for about ten minutes).

Exit code 1 when nothing is known of such an order.

Examples:
  $ gatewatch order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d
  $ gatewatch order merchant-1001 --by transaction-id --type Withdrawal
  $ gatewatch order --by transaction-id -- --1001        an id that begins as an option does
  $ gatewatch order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d --json | jq '.events[].action'`;

export function addOrder(program: Command, context: CommandContext): void {
  const command = program
    .command('order')
    .description('show what one order went through')
    .argument('<id>', "the order's id");
  addOrderIdOptions(command, { gateway: 'any', type: 'any', by: 'either' })
    .option('--json', 'the timeline as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, _options: object, self: Command) => {
      context.exitCode = await order(context.host, id, self.optsWithGlobals<OrderOptions & GlobalOptions>());
    });
}

async function order(host: Host, id: string, options: OrderOptions): Promise<number> {
  const wanted = orderQueryOf(id, options);
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const config = loadStoreConfig(options.config, host.env);
  const reading = askForTimeline(config, wanted).then((reply) =>
    reply === undefined ? readFromStore(config, host, wanted) : reply,
  );
  const timeline = await withProgress(host, 'reading the order', reading);
  if (timeline === null) {
    await host.stderr.write(notFound(host, wanted));
    return EXIT.failed;
  }
  if (options.json === true) {
    await printJson(host, timeline);
  } else {
    const { drawTimeline } = await import('../terminal/draw-timeline.ts');
    await host.stdout.write(drawTimeline(host.stdout, timeline));
  }
  return EXIT.done;
}

/**
 * The collector's answer: null when it knows no such order, undefined when no collector answers or its store
 * is away.
 */
async function askForTimeline(
  config: StoreConfig,
  wanted: OrderQuery,
): Promise<OrderTimeline | null | undefined> {
  const { id, gateway, type, by } = wanted;
  const given = Object.entries({ gateway, type, by }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]).toString();
  const path = `/orders/${encodeURIComponent(id)}${query === '' ? '' : `?${query}`}`;
  const reply = await askCollector(collectorUrl(config), path);
  if (reply === null || reply.status === 503) return undefined;
  if (reply.status === 404) return null;
  if (reply.status === 200) return orderTimelineSchema.safeParse(reply.body).data;
  throw new GatewatchError(`The collector refuses: ${printable(problemDetail(reply))}`, { code: 'internal' });
}

async function readFromStore(
  config: StoreConfig,
  host: Host,
  wanted: OrderQuery,
): Promise<OrderTimeline | null> {
  const { openStore } = await import('../../store/open.ts');
  const { readOrderTimeline } = await import('../../store/order-timeline.ts');
  const opened = await openStore(config, { progress: progressOn(host) });
  try {
    return await readOrderTimeline((text, params) => opened.store.query(text, params), wanted);
  } finally {
    await opened.close();
  }
}

function notFound(host: Host, wanted: OrderQuery): string {
  const narrowed = [wanted.gateway, wanted.type, wanted.by].filter((part) => part !== undefined);
  const label = host.stderr.paint('red', 'error:');
  const id = printable(wanted.id);
  return `${label} nothing is known of an order ${id}${narrowed.length === 0 ? '' : ` (${narrowed.map(printable).join(', ')})`}.
What to try:
${narrowed.length === 0 ? '' : '  - search without --gateway, --type and --by\n'}  - have it read from the gateway: gatewatch watch --type ${wanted.type ?? 'Deposit'} ${printable(idInShell(wanted.id))}
  - look whether something about it was refused: gatewatch sql "SELECT * FROM rejects ORDER BY rejected_at DESC LIMIT 10"
Orders become known by a callback, a watch message or a backfill: the gateway has no list of orders.
`;
}
