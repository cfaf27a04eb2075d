import type { Command } from 'commander';
import type { LoadedConfig } from '../../schemas/config.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Check, Finding } from '../../operate/doctor/check.ts';
import { printable, type Host, type Output } from '../host.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';

interface DoctorOptions extends GlobalOptions {
  readonly json?: true;
}

/** No check may take longer. */
const DEADLINE_MS = 20_000;

const HELP = `
Looks at all that the collector needs: the configuration, Node.js, the store and its schema, disk, ports, Kafka with its
topics and lag, each gateway (name, certificate, token, clock), the signature, the OTLP receiver. Changes nothing; it
sends one status request to each gateway, for an order that cannot exist. Secrets are never printed.

Exit code 1 when a check fails; warnings do not count.

Examples:
  $ gatewatch doctor --config gatewatch.yaml
  $ gatewatch doctor --json | jq '.findings[] | select(.status != "ok")'`;

export function addDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('check configuration, store, Kafka, gateways and more')
    .option('--json', 'findings as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await doctor(context.host, command.optsWithGlobals<DoctorOptions>());
    });
}

async function doctor(host: Host, options: DoctorOptions): Promise<number> {
  const { runChecks } = await import('../../operate/doctor/check.ts');
  const working = chooseChecks(host, options.config).then((checks) => runChecks(checks, DEADLINE_MS));
  const findings = await withProgress(host, 'examining', working);
  const failed = findings.filter((finding) => finding.status === 'fail').length;
  if (options.json === true) await printJson(host, { ok: failed === 0, findings });
  else await host.stdout.write(drawFindings(host.stdout, findings));
  return failed === 0 ? EXIT.done : EXIT.failed;
}

/** What can be checked with the configuration as it is; one that is not valid still tells about the store. */
async function chooseChecks(host: Host, path: string | undefined): Promise<Check[]> {
  const { loadConfig } = await import('../../collector/config/load.ts');
  const { loadStoreConfig } = await import('../store-config.ts');
  const { nodeCheck } = await import('../../operate/doctor/node-check.ts');
  const { signatureCheck } = await import('../../operate/doctor/signature-check.ts');
  const always = [nodeCheck(host.nodeVersion), signatureCheck()];
  const config = attempt(() => loadConfig(path, host.env));
  const stored = config instanceof GatewatchError ? attempt(() => loadStoreConfig(path, host.env)) : config;
  const checks: Check[] = [await configurationCheck(config), ...always];
  if (!(stored instanceof GatewatchError)) {
    const { storeCheck } = await import('../../operate/doctor/store-check.ts');
    const { diskCheck } = await import('../../operate/doctor/disk-check.ts');
    const { portCheck } = await import('../../operate/doctor/port-check.ts');
    checks.push(storeCheck(stored, progressOn(host)), portCheck(stored));
    if (stored.clickhouse === undefined) checks.push(diskCheck(stored.dataDir));
  }
  if (config instanceof GatewatchError) return checks;
  if (config.kafka !== undefined) {
    const { kafkaCheck } = await import('../../operate/doctor/kafka-check.ts');
    checks.push(kafkaCheck(config.kafka));
  }
  const { gatewayCheck } = await import('../../operate/doctor/gateway-check.ts');
  const { otlpCheck } = await import('../../operate/doctor/otlp-check.ts');
  return [...checks, ...config.gateways.map(gatewayCheck), otlpCheck(host.env, config.collectorId)];
}

async function configurationCheck(config: LoadedConfig | GatewatchError): Promise<Check> {
  const { configCheck } = await import('../../operate/doctor/config-check.ts');
  if (!(config instanceof GatewatchError)) return configCheck(config);
  const { fail } = await import('../../operate/doctor/check.ts');
  const advice = 'Gateways and Kafka are not checked until this is mended.';
  return { name: 'configuration', run: async () => [fail('configuration', config.message, advice)] };
}

function attempt<T>(load: () => T): T | GatewatchError {
  try {
    return load();
  } catch (error) {
    if (error instanceof GatewatchError) return error;
    throw error;
  }
}

const MARKS = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

function drawFindings(output: Output, findings: readonly Finding[]): string {
  const lines = findings.map(({ check, status, message, advice }) => {
    const [colour, mark] = MARKS[status];
    const text = message.split('\n').map(printable).join('\n        ');
    const hint = advice === '' ? '' : `\n        ${output.paint('dim', '->')} ${printable(advice)}`;
    return `${output.paint(colour, mark)}  ${output.paint('bold', printable(check))}: ${text}${hint}`;
  });
  const count = (status: Finding['status']) => findings.filter((one) => one.status === status).length;
  return `${lines.join('\n')}\n\n${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed.\n`;
}
