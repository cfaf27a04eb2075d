import type { Command } from 'commander';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Finding } from '../../operate/doctor/check.ts';
import type { DoctorPorts } from '../../operate/doctor/doctor.ts';
import { VERSION } from '../../store/package-files.ts';
import { printable, type Host, type Output } from '../terminal/host.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';

interface DoctorOptions extends GlobalOptions {
  readonly json?: true;
}

/** No check may take longer. */
const DEADLINE_MS = 20_000;
const EXPORT_TIMEOUT_MS = 5_000;

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
  const { chooseChecks } = await import('../../operate/doctor/doctor.ts');
  const checks = chooseChecks(await doctorPorts(host, options.config));
  const findings = await withProgress(host, 'examining', runChecks(checks, DEADLINE_MS));
  const failed = findings.filter((finding) => finding.status === 'fail').length;
  if (options.json === true) await printJson(host, { ok: failed === 0, findings });
  else await host.stdout.write(drawFindings(host.stdout, findings));
  return failed === 0 ? EXIT.done : EXIT.failed;
}

/** The collector's own parts, for the doctor to try. */
async function doctorPorts(host: Host, path: string | undefined): Promise<DoctorPorts> {
  const { loadConfig, loadStoreConfig } = await import('../../collector/config/load.ts');
  const { verifySignature } = await import('../../collector/decode/signature.ts');
  const { createOtlpSender } = await import('../../collector/sinks/otlp/sender.ts');
  const { openConnections, proxyFor, proxyFromEnvironment } =
    await import('../../collector/sources/gateway/connections.ts');
  const { surveyKafka } = await import('../../collector/sources/kafka/survey.ts');
  const { isOtlpWanted, readProtocol } = await import('../../collector/telemetry/otel-env.ts');
  const sendSpans = async (): Promise<void> => {
    const protocol = readProtocol(host.env, 'TRACES');
    const sender = createOtlpSender({
      version: VERSION,
      protocol,
      timeoutMs: EXPORT_TIMEOUT_MS,
    });
    await sender.send([]).finally(() => sender.close());
  };
  const proxy = proxyFromEnvironment(host.env);
  const gateway: DoctorPorts['gateway'] = {
    async ask(asked, path, headers) {
      const connections = openConnections(asked, proxy);
      const { origin } = new URL(asked.secureUrl);
      const { deadlineMs, maxReplyBytes: maxBytes } = asked.poll;
      const request = {
        origin,
        path,
        headers: { ...headers, accept: 'application/json' },
        deadlineMs,
        maxBytes,
      };
      const { httpStatus, headers: answered, end, error } = await connections.exchange(request);
      await connections.close();
      const { code = 'connection failed' } = (error ?? {}) as { code?: string };
      const date = answered['date'];
      return {
        status: httpStatus,
        date: typeof date === 'string' ? date : null,
        failure: end === 'timeout' ? 'no answer in time' : code,
      };
    },
    proxyOf(url) {
      const proxies = proxyFor(url, proxy);
      const used = url.protocol === 'https:' ? proxies?.httpsProxy : proxies?.httpProxy;
      return used === undefined ? null : new URL(used).host;
    },
  };
  return {
    gateway,
    nodeVersion: host.nodeVersion,
    env: host.env,
    loadConfig: () => loadConfig(path, host.env),
    loadStoreConfig: () => loadStoreConfig(path, host.env),
    progress: progressOn(host),
    surveyKafka,
    verifySignature,
    sendSpans: () => (isOtlpWanted(host.env, 'TRACES') ? sendSpans : null),
  };
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
