import { InvalidArgumentError, type Command } from 'commander';
import type { KafkaConfig } from '../../schemas/config.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { collectorUrl, postWatchMessages, problemDetail } from '../../operate/collector-client.ts';
import { EXIT, printJson, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { printable, type Host } from '../terminal/host.ts';
import { addOrderIdOptions, type OrderIdOptions } from '../options.ts';
import { withProgress } from '../terminal/progress.ts';

interface WatchOptions extends OrderIdOptions {
  readonly channel?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly json?: true;
}

const HELP = `
Asks the running collector to read these orders now and to follow them until they settle. When none answers and Kafka is
configured, the request is put onto the watch topic, where the next collector finds it.

Examples:
  $ gatewatch watch 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d
  $ gatewatch watch merchant-1001 merchant-1002 --by transaction-id --gateway acme-eu
  $ gatewatch watch 5b1d... --type Withdrawal --currency EUR --channel p2p`;

export function addWatch(program: Command, context: CommandContext): void {
  const command = program
    .command('watch')
    .description('read orders now, and follow them until they settle')
    .argument('<id...>', "the orders' ids");
  addOrderIdOptions(command, { gateway: 'the only one', type: 'Deposit', by: 'external-id' })
    .option('--channel <name>', 'payment channel: status replies do not name it')
    .option('--amount <decimal>', 'amount, for replies that lack it', parseAmount)
    .option('--currency <code>', 'currency, for replies that lack it')
    .option('--json', 'the result as one JSON object')
    .addHelpText('after', HELP)
    .action(async (ids: string[], _options: object, self: Command) => {
      await watch(context.host, ids, self.optsWithGlobals<WatchOptions & GlobalOptions>());
      context.exitCode = EXIT.done;
    });
}

async function watch(host: Host, ids: readonly string[], options: WatchOptions): Promise<void> {
  const wrong = ids.find((id) => id === '' || id.length > 200);
  if (wrong !== undefined) throw usageError('an id: expected 1 to 200 characters');
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const config = loadPartialConfig(options.config, host.env, ['http', 'kafka']);
  const messages = ids.map((id) => messageOf(id, options));
  const url = collectorUrl(config);
  const asking = postWatchMessages(url, messages);
  const { accepted, failure } = await withProgress(host, 'asking the collector', asking);
  if (failure === null) return done(host, options, ids.length, `the collector at ${url}`);
  if (failure !== 'no_answer') {
    throw new GatewatchError(`The collector at ${url} refuses: ${printable(problemDetail(failure))}`, {
      code: 'internal',
      retryable: failure.status === 503,
    });
  }
  if (accepted > 0 || config.kafka === undefined) throw nobodyAnswers(url);
  await withProgress(host, 'writing to Kafka', leaveInKafka(config.kafka, messages));
  return done(host, options, ids.length, `Kafka topic ${config.kafka.watchTopic}`);
}

/** Leaves the requests on the watch topic. Resolves when the brokers have them all. */
async function leaveInKafka(kafka: KafkaConfig, messages: readonly WatchMessage[]): Promise<void> {
  const { createWatchTopic } = await import('../../collector/sources/kafka/watch-topic.ts');
  const topic = createWatchTopic(kafka);
  try {
    for (const message of messages) await topic.send(message);
  } finally {
    await topic.stop();
  }
}

function messageOf(id: string, options: WatchOptions): WatchMessage {
  const { gateway, type, by, channel, amount, currency } = options;
  return {
    ...(by === 'transaction-id' ? { externalTransactionId: id } : { externalId: id }),
    orderType: type ?? 'Deposit',
    ...(gateway === undefined ? {} : { gateway }),
    ...(channel === undefined ? {} : { channel }),
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency }),
  };
}

async function done(host: Host, options: WatchOptions, count: number, by: string): Promise<void> {
  if (options.json === true) return printJson(host, { watched: count, by });
  await host.stdout.write(`${count} ${count === 1 ? 'order' : 'orders'} taken by ${by}.\n`);
}

function nobodyAnswers(url: string): GatewatchError {
  return new GatewatchError(
    `No collector answers at ${url}, and no Kafka is configured to leave the request with. Start one with ` +
      "'gatewatch run', or say where it listens: http.host and http.port, GATEWATCH_HTTP_HOST and GATEWATCH_HTTP_PORT.",
    { code: 'internal', retryable: true },
  );
}

function parseAmount(text: string): string {
  if (/^-?\d{1,28}(\.\d{1,9})?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected a decimal number such as 100.50.');
}
