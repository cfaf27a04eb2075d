import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  FINDING_KIND_NAMES,
  FINDING_SIDES,
  type FindingKind,
  type FindingSide,
} from '../../schemas/findings.ts';
import type { FoundFindings } from '../../operate/findings/list-findings.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { parseCount, parseDuration } from '../options.ts';
import { drawFindings } from '../terminal/draw-findings.ts';
import type { Host } from '../terminal/host.ts';
import { progressOn } from '../terminal/progress.ts';

interface FindingsOptions extends GlobalOptions {
  readonly since: number;
  readonly gateway?: string;
  readonly kind?: readonly FindingKind[];
  readonly side?: FindingSide;
  readonly order?: string;
  readonly open?: true;
  readonly limit: number;
  readonly check?: true;
  readonly json?: true;
}

const HELP = `
Where the sources about an order contradict one another: its history, status replies, callbacks and the watch message. A
collector compares them every five minutes, up to where its picture of the gateway is complete; this command shows what it
found and compares nothing. What resolved itself has a time in the last column. docs/reference/views.md explains each kind.

Kinds: ${FINDING_KIND_NAMES.slice(0, 6).join(', ')},
${FINDING_KIND_NAMES.slice(6).join(', ')}.
Exit codes: 0 shown, 1 failed, or with --check something is open, 2 bad usage.

Examples:
  $ gatewatch findings                                 what was found in the last 24 hours
  $ gatewatch findings --open --side gateway           what the gateway has to explain
  $ gatewatch findings --order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d --json
  $ gatewatch findings --open --kind AMOUNT_DISAGREES,STATUS_DISAGREES --check`;

export function addFindings(program: Command, context: CommandContext): void {
  program
    .command('findings')
    .description('where the sources about an order contradict one another')
    .option('--since <duration>', 'found in this time until now (default: 24h)', parseDuration, 86_400)
    .option('-g, --gateway <name>', 'of one gateway')
    .option('--kind <kinds>', 'of these kinds, with commas between', parseKinds)
    .addOption(new Option('--side <side>', 'with the fault on this side').choices(FINDING_SIDES))
    .option('--order <id>', "of one order, by the service's id, whenever it was found")
    .option('--open', 'only what has not resolved itself')
    .option('--limit <count>', 'at most so many, the newest (default: 100)', parseCount, 100)
    .option('--check', 'exit with 1 when there is something open among them')
    .option('--json', 'one JSON object with all columns, evidence included')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<FindingsOptions>();
      const { open } = await findings(context.host, options);
      context.exitCode = options.check === true && open > 0 ? EXIT.failed : EXIT.done;
    });
}

function parseKinds(text: string): FindingKind[] {
  return text.split(',').map((word) => {
    const kind = FINDING_KIND_NAMES.find((one) => one === word.trim().toUpperCase());
    if (kind === undefined)
      throw new InvalidArgumentError(`Expected some of ${FINDING_KIND_NAMES.join(', ')}.`);
    return kind;
  });
}

async function findings(host: Host, options: FindingsOptions): Promise<FoundFindings> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { listFindings } = await import('../../operate/findings/list-findings.ts');
  const { since, gateway, kind, side, order, open, limit } = options;
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const found = await listFindings(opened.store.query, {
      sinceSeconds: since,
      limit,
      ...(gateway === undefined ? {} : { gateway }),
      ...(kind === undefined ? {} : { kinds: kind }),
      ...(side === undefined ? {} : { side }),
      ...(order === undefined ? {} : { externalId: order }),
      ...(open === undefined ? {} : { open }),
    });
    if (options.json === true) await printJson(host, found);
    else await host.stdout.write(drawFindings(host.stdout, found));
    return found;
  } finally {
    await opened.close();
  }
}
