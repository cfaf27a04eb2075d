import { Command, InvalidArgumentError } from 'commander';

export interface DemoOptions {
  /** Seconds after which it stops by itself; null: at Ctrl-C. */
  readonly seconds: number | null;
  readonly json: boolean;
  readonly seed: string;
  readonly rate: number;
  readonly speed: number;
  readonly dataDir: string;
  readonly port: number;
  readonly storePort: number;
}

/** Below this nothing would have time to happen. */
const LEAST_SECONDS = 20;

export function readDemoOptions(args: readonly string[]): DemoOptions {
  const program = new Command('demo')
    .description(
      'A payment gateway, a collector and a ClickHouse on this machine: orders live and fail, and you can watch.\n' +
        'Nothing leaves the machine, and nothing but the data folder is written.',
    )
    .option(
      '--seconds <n>',
      'stop after this many seconds, and up to 65 more, and print a summary',
      atLeast(LEAST_SECONDS),
    )
    .option('--json', 'the summary as one JSON object on stdout', false)
    .option('--seed <text>', 'equal seeds give equal orders', 'demo')
    .option('--rate <n>', 'orders per second', atLeast(0.1), 4)
    .option('--speed <n>', 'how many times faster than life orders move on', atLeast(1), 20)
    .option(
      '--data-dir <folder>',
      'data folder: a new one, or one of an earlier demo, which is emptied',
      '.gatewatch/demo',
    )
    .option('--port <n>', "the collector's port; another one when it is taken", atLeast(0), 8080)
    .option('--store-port <n>', "the store's port; another one when it is taken", atLeast(0), 8123)
    .addHelpText(
      'after',
      `
Examples:
  npm run demo                          until Ctrl-C; an incident begins after 20 seconds
  npm run demo -- --seconds 60          an incident, its alerts, and a summary
  npm run -s demo -- --seconds 60 --json | jq .alerts

Alert rules are evaluated once a minute, over windows that end half a minute before. With --seconds the demo waits for
the first evaluation that has most of the incident, so even a run of 20 seconds takes up to two minutes; Ctrl-C ends
the wait. Without it the summary, at Ctrl-C, shows the alerts as they were evaluated last.

Exit codes: 0 done and all numbers agree, 1 failed or they do not, 2 wrong usage, or a data folder
that is not the demo's own or is in use.`,
    )
    .exitOverride();
  const options = program
    .parse([...args], { from: 'user' })
    .opts<Omit<DemoOptions, 'seconds'> & { seconds?: number }>();
  return { ...options, seconds: options.seconds ?? null };
}

function atLeast(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isFinite(value) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a number of at least ${least}.`);
  };
}
