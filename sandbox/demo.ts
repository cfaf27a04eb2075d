import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommanderError } from 'commander';
import { sleep } from '../schemas/deadline.ts';
import type { AlertLine } from '../schemas/alert-line.ts';
import {
  freePort,
  runCommand,
  startCollectorProcess,
  type CollectorProcess,
} from './demo/collector-process.ts';
import { COUNTS_SQL, readCounts, type Counts } from './demo/counts.ts';
import { claimDataFolder, FolderRefused } from './demo/data-folder.ts';
import { readDemoOptions, type DemoOptions } from './demo/options.ts';
import { startOtlpReceiver, type OtlpReceiver } from './demo/otlp-receiver.ts';
import { newestEvaluation, nextMinute } from './demo/evaluation.ts';
import {
  annotate,
  evaluableAtMs,
  planFor,
  provokeIncident,
  seasonTraffic,
  type Plan,
} from './demo/script.ts';
import { summarize, summaryText } from './demo/summary.ts';
import { createSandbox, type Sandbox } from './server.ts';

/** Re-reads and delays in seconds instead of minutes, to go with orders that live faster. */
const POLL = { delaysS: [1, 2, 4], maxDelayS: 10, rereadsS: [4, 12, 32] };
const node = process.execPath;
const say = (text: string) => process.stderr.write(`${text}\n`);

/** What runs during the demo, and where its files are. */
interface Demo {
  readonly options: DemoOptions;
  readonly dataDir: string;
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  readonly receiver: OtlpReceiver;
  readonly collector: CollectorProcess;
  /** Lines of the collector's log. */
  readonly log: readonly string[];
}

async function main(options: DemoOptions): Promise<number> {
  const interrupted = new AbortController();
  let isStarted = false;
  const interrupt = (): void =>
    !isStarted || interrupted.signal.aborted ? process.exit(130) : interrupted.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  const demo = await start(options);
  // Before it says that it runs: who reads that may end it at once.
  isStarted = true;
  const { sandbox, collector, receiver, configFile, env } = demo;
  say(addressesText(sandbox, collector, configFile));
  const plan = planFor(options.seconds);
  seasonTraffic(sandbox);
  const [startedMs, startedAt] = [performance.now(), Date.now()];
  sandbox.start();
  let alerts: AlertLine[];
  try {
    await live(sandbox, collector, plan, options, interrupted.signal);
    sandbox.setRate(0);
    await incidentEvaluated(demo, startedAt + evaluableAtMs(plan), interrupted.signal);
    alerts = await readAlerts(configFile, env);
  } catch (error) {
    // What still runs would keep the demo from ending.
    await Promise.allSettled([collector.stop(), sandbox.stop(), receiver.stop()]);
    throw error;
  }
  return finish(demo, startedMs, alerts);
}

/** Starts gateway and collector; stops what runs already when the collector does not come up. */
async function start(options: DemoOptions): Promise<Demo> {
  const dataDir = resolve(options.dataDir);
  claimDataFolder(dataDir, { pid: process.pid, isAlive });
  const port = await freePort(options.port);
  const storePort = await freePort(options.storePort);
  const receiver = await startOtlpReceiver();
  const sandbox = await createSandbox({
    seed: options.seed,
    speed: options.speed,
    ratePerSecond: options.rate,
    callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox` },
    watchUrl: `http://127.0.0.1:${port}/orders`,
  });
  const configFile = join(dataDir, 'gatewatch.yaml');
  writeFileSync(configFile, configText(sandbox, dataDir, port, storePort));
  const env = { ...process.env, ...telemetryTo(receiver.url) };
  const log: string[] = [];
  say('Starting a gateway, a ClickHouse and a collector ...');
  try {
    const collector = await startCollectorProcess(
      node,
      configFile,
      env,
      (line) => log.push(line),
      (end) => process.once('exit', end),
    );
    return { options, dataDir, configFile, env, sandbox, receiver, collector, log };
  } catch (error) {
    say(log.slice(-20).join('\n'));
    await Promise.allSettled([sandbox.stop(), receiver.stop()]);
    throw error;
  }
}

/** Stops all of it, and sets side by side what the gateway did and what the store holds. */
async function finish(demo: Demo, startedMs: number, alerts: readonly AlertLine[]): Promise<number> {
  const { options, dataDir, configFile, env, sandbox, receiver, collector, log } = demo;
  const code = await collector.stop();
  const logFile = join(dataDir, 'collector.log');
  writeFileSync(logFile, `${log.join('\n')}\n`);
  if (code !== 0) say(`The collector ended with code ${code}; its log is in ${logFile}`);
  // Only then is every attempt counted as answered or not: the collector may have taken one as it ended.
  await sandbox.stop();
  const stats = sandbox.stats();
  const spansReceived = receiver.spans();
  await receiver.stop();
  const summary = summarize({
    seconds: Math.round((performance.now() - startedMs) / 1000),
    seed: options.seed,
    dataDir,
    sandbox: stats,
    counts: await countsAtRest(configFile, env),
    spansReceived,
    alerts,
  });
  if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`);
  else process.stdout.write(summaryText(summary));
  const command = `npm run -s gatewatch -- sql "SELECT * FROM orders LIMIT 5"`;
  say(`The data stays until the next demo:  GATEWATCH_CONFIG=${configFile} ${command}`);
  return code === 0 && summary.disagreements.length === 0 ? 0 : 1;
}

/** Runs the script of the demo and shows a line of counts each second, until its end or an interruption. */
async function live(
  sandbox: Sandbox,
  collector: CollectorProcess,
  plan: Plan,
  options: DemoOptions,
  interrupted: AbortSignal,
): Promise<void> {
  const startedMs = performance.now();
  let [provoked, over, quiet] = [false, false, false];
  const elapsedS = () => (performance.now() - startedMs) / 1000;
  // By the clock: counting takes longer than a second on a busy machine, and the script must not stretch.
  for (let second = 1; !interrupted.aborted; second = Math.max(second + 1, Math.ceil(elapsedS()))) {
    await sleep(Math.max(0, (second - elapsedS()) * 1000), interrupted);
    if (options.seconds !== null && second >= options.seconds) break;
    if (!provoked && second >= plan.incidentAtS) {
      provoked = true;
      provokeIncident(sandbox, plan.incidentForS);
      const text =
        'half of the new payments time out at the gateway, a third of the callbacks are signed wrongly';
      note(`INCIDENT: ${text}`);
      await annotate(collector.http, { title: 'Incident', text, forSeconds: plan.incidentForS });
    }
    if (!over && second >= plan.incidentAtS + plan.incidentForS) {
      over = true;
      note('The incident is over; late items and re-reads go on');
    }
    if (!quiet && plan.quietAtS !== null && second >= plan.quietAtS) {
      quiet = true;
      sandbox.setRate(0);
      note('No more new orders; reading what is under way');
    }
    showLine(second, await readCounts(collector.store, options.dataDir).catch(() => null));
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
}

/** How long after its minute an evaluation may take until nobody waits for it any more. */
const LATE_MS = 30_000;

/** Waits until the rules are evaluated for the first minute from `fromMs` on, or until an interruption. */
async function incidentEvaluated(
  { collector, options }: Demo,
  fromMs: number,
  interrupted: AbortSignal,
): Promise<void> {
  const asOf = nextMinute(fromMs);
  const isDue = async () => ((await newestEvaluation(collector.http)) ?? 0) < asOf;
  if (interrupted.aborted || !(await isDue())) return;
  const at = new Date(asOf).toISOString().slice(11, 16);
  note(`Waiting for the alert rules: they are evaluated once a minute, next at ${at} UTC`);
  const startedMs = performance.now();
  while (!interrupted.aborted && (await isDue())) {
    if (Date.now() > asOf + LATE_MS) {
      note('The alert rules were not evaluated in time: see the log');
      break;
    }
    await sleep(1000, interrupted);
    const second = Math.round((performance.now() - startedMs) / 1000);
    showLine(
      (options.seconds ?? 0) + second,
      await readCounts(collector.store, options.dataDir).catch(() => null),
    );
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
}

let shownTens = 0;

/** On a terminal one line that changes; elsewhere a line each ten seconds, or as soon after as one is due. */
function showLine(second: number, counts: Counts | null): void {
  if (counts === null) return;
  const tens = Math.floor(second / 10);
  const line =
    `${String(second).padStart(4)} s  orders ${counts.orders}  polls ${counts.polls}  callbacks ${counts.callbackDeliveries}` +
    `  history ${counts.historyEvents}  technical failures ${counts.failures}  wrong signatures ${counts.mismatches}  rejects ${counts.rejects}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
  else if (tens > shownTens) say(line);
  shownTens = tens;
}

function note(text: string): void {
  say(`${process.stderr.isTTY ? '\r\u001b[K' : ''}-- ${text}`);
}

async function readAlerts(configFile: string, env: NodeJS.ProcessEnv): Promise<AlertLine[]> {
  const { code, stdout, stderr } = await runCommand(node, ['alerts', '--json', '--config', configFile], env);
  if (code !== 0) throw new Error(`the alerts could not be read: ${stderr}`);
  return JSON.parse(stdout) as AlertLine[];
}

/** The counts once nothing writes any more: what a SELECT gives later, too. */
async function countsAtRest(configFile: string, env: NodeJS.ProcessEnv): Promise<Counts> {
  const sql = COUNTS_SQL.replace('FORMAT JSONEachRow', '');
  const { code, stdout, stderr } = await runCommand(
    node,
    ['sql', sql, '--json', '--config', configFile],
    env,
  );
  if (code !== 0) throw new Error(`the store could not be read: ${stderr}`);
  return JSON.parse(stdout) as Counts;
}

function configText(sandbox: Sandbox, dataDir: string, port: number, storePort: number): string {
  const config = {
    collectorId: 'demo',
    gateways: [
      {
        name: 'sandbox',
        secureUrl: sandbox.secureUrl,
        token: `\${file:${secretFile(dataDir, 'token', sandbox.token)}}`,
        callbackKeys: [`\${file:${secretFile(dataDir, 'callback-key', sandbox.callbackKey)}}`],
        poll: POLL,
      },
    ],
    http: { port },
    // Orders that nobody paid: the console is worth more than the sandbox that macOS does not have.
    embedded: { port: storePort, fsync: false, readersWithoutSandbox: 'trusted_with_all_files' },
    dataDir,
  };
  // JSON is YAML, too.
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** The collector reads its secrets from files, as it would in production. */
function secretFile(dataDir: string, name: string, secret: string): string {
  const path = join(dataDir, name);
  writeFileSync(path, secret, { mode: 0o600 });
  return path;
}

function telemetryTo(url: string): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  };
}

function addressesText(sandbox: Sandbox, collector: CollectorProcess, configFile: string): string {
  const dataDir = dirname(configFile);
  return `
  dashboards  ${collector.http}   <- open this
  collector   ${collector.http}   (/metrics /readyz /orders/{id})
  gateway     ${sandbox.url}   (its switches: curl ${sandbox.adminUrl})
  ClickHouse  ${collector.store}   (user gatewatch_reader, password in ${join(dataDir, 'reader.secret')})

  Try, in another terminal:
    export GATEWATCH_CONFIG=${configFile}
    npm run -s gatewatch -- sql "SELECT outcome, count() FROM orders GROUP BY outcome"
    npm run -s gatewatch -- alerts
    npm run -s gatewatch -- order $(npm run -s gatewatch -- sql "SELECT external_id FROM orders WHERE outcome = 'technical_failure' LIMIT 1")
    curl --user "gatewatch_reader:$(cat ${join(dataDir, 'reader.secret')})" ${collector.store} -d "SELECT stage, reason_detail, count() FROM gatewatch.history_events WHERE result = 'FAILURE' GROUP BY ALL"
`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

try {
  process.exitCode = await main(readDemoOptions(process.argv.slice(2)));
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    say(`The demo failed: ${(error as Error).message}`);
    process.exitCode = error instanceof FolderRefused ? 2 : 1;
  }
}
