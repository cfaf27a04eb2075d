import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ADMIN_GUIDE } from './routes/admin-guide.ts';
import { INCIDENT_NAMES, type IncidentName } from './scenarios.ts';
import { createSandbox, type Sandbox } from './server.ts';

interface Flags {
  readonly seed: string;
  readonly rate: number;
  readonly speed: number;
  readonly host: string;
  readonly port: number;
  readonly callbackUrl?: string;
  readonly watchUrl?: string;
  readonly gatewayName: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly callbackKey?: string;
  readonly callbackKeyFile?: string;
  readonly lateShare: number;
  readonly incident: Incident[];
  readonly adminRemote?: true;
}

interface Incident {
  readonly name: IncidentName;
  readonly share: number;
  readonly forSeconds?: number;
}

const program = new Command('sandbox')
  .description(
    'A payment gateway to try things on: it serves the whole gateway interface and lets orders live.',
  )
  .option('--seed <text>', 'equal seeds give equal orders, ids, amounts, histories and delays', '1')
  .option(
    '--rate <n>',
    'orders per second that the sandbox creates by itself; 0: only those you POST',
    number(0, 10_000),
    0,
  )
  .option(
    '--speed <n>',
    'delays in orders are divided by this; time stamps stay those of the wall clock',
    number(0.01, 10_000),
    1,
  )
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--port <n>', 'port to listen on; 0 takes a free one', number(0, 65_535), 9090)
  .option('--callback-url <url>', 'static callback address; orders with a callbackUrl of their own use that')
  .option('--watch-url <url>', "POST every new order there, as the merchant would: the collector's /orders")
  .option('--gateway-name <name>', 'the name of this gateway in those messages', 'sandbox')
  .addOption(
    new Option('--token-file <file>', 'bearer token of endpoint "main"; made when the file does not exist'),
  )
  .addOption(
    new Option(
      '--callback-key-file <file>',
      'private key for callback signatures; made when it does not exist',
    ),
  )
  .addOption(new Option('--token <text>', 'the same, in the open').env('SANDBOX_TOKEN').hideHelp())
  .addOption(
    new Option('--callback-key <text>', 'the same, in the open').env('SANDBOX_CALLBACK_KEY').hideHelp(),
  )
  .option(
    '--late-share <n>',
    'share of finished orders whose history grows for up to 10 minutes more',
    number(0, 1),
    0.35,
  )
  .option(
    '--incident <name:share[:seconds]>',
    `begin with an incident: ${INCIDENT_NAMES.join(', ')}`,
    incident,
    [],
  )
  .option('--admin-remote', 'serve /admin to every address, not to loopback alone (private networks only)')
  .addHelpText('after', help())
  .exitOverride((error) =>
    process.exit(error.exitCode !== 0 && error.code !== 'commander.error' ? 2 : error.exitCode),
  )
  .action(run);

await program.parseAsync();

async function run(flags: Flags): Promise<void> {
  const token = flags.token ?? secretFrom(flags.tokenFile);
  const key = flags.callbackKey ?? secretFrom(flags.callbackKeyFile);
  const sandbox = await createSandbox({
    seed: flags.seed,
    ratePerSecond: flags.rate,
    speed: flags.speed,
    host: flags.host,
    port: flags.port,
    gatewayName: flags.gatewayName,
    lateShare: flags.lateShare,
    incidents: flags.incident,
    adminRemote: flags.adminRemote ?? false,
    log: (line) => process.stderr.write(`${line}\n`),
    callbacks: {
      ...(flags.callbackUrl === undefined ? {} : { url: flags.callbackUrl }),
      ...(key === undefined ? {} : { key }),
    },
    ...(flags.watchUrl === undefined ? {} : { watchUrl: flags.watchUrl }),
    ...(token === undefined ? {} : { token }),
  }).catch((error: NodeJS.ErrnoException): never => {
    const hint = error.code === 'EADDRINUSE' ? ' (try --port 0)' : '';
    return program.error(`cannot start: ${error.message}${hint}`, { exitCode: 1 });
  });
  sandbox.start();
  process.stdout.write(banner(sandbox, { token: token === undefined, key: key === undefined }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void sandbox.stop().then(() => process.exit(0)));
  }
}

/**
 * Secrets given by the user are never printed; those derived from the seed protect nothing and have to be
 * known.
 */
function banner(sandbox: Sandbox, derived: { token: boolean; key: boolean }): string {
  return [
    `sandbox gateway: ${sandbox.url}`,
    `  secure_url     ${sandbox.secureUrl}`,
    `  token_url      ${sandbox.tokenUrl}`,
    `  payform_url    ${sandbox.payformUrl}`,
    `  admin          ${sandbox.adminUrl}`,
    ...(derived.token
      ? Object.entries(sandbox.tokens).map(([name, token]) => `  token (${name})`.padEnd(17) + token)
      : []),
    ...(derived.key ? [`  callback key   ${sandbox.callbackKey}`] : []),
    '',
  ].join('\n');
}

function secretFrom(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${randomBytes(20).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  }
  const secret = readFileSync(file, 'utf8').trim();
  if (secret === '') program.error(`${file} is empty`, { exitCode: 2 });
  return secret;
}

function number(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= min && value <= max))
      throw new InvalidArgumentError(`expected ${min} to ${max}.`);
    return value;
  };
}

function incident(text: string, before: Incident[]): Incident[] {
  const [name, share, seconds, ...rest] = text.split(':');
  const known = INCIDENT_NAMES.find((candidate) => candidate === name);
  if (!known || rest.length > 0)
    throw new InvalidArgumentError(
      `expected NAME:SHARE[:SECONDS], NAME one of ${INCIDENT_NAMES.join(', ')}.`,
    );
  const parsed = { name: known, share: number(0, 1)(share ?? '') };
  return [...before, seconds === undefined ? parsed : { ...parsed, forSeconds: number(0, 1e7)(seconds) }];
}

function help(): string {
  return `
Examples:
  npm run sandbox -- --rate 5 --speed 10 --callback-url http://127.0.0.1:8080/callbacks/sandbox
  npm run sandbox -- --token-file .secrets/token --callback-key-file .secrets/key --incident tech_timeout:0.3:120

Create a deposit, and read its status (use the token that the sandbox prints):
  curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
    -d '{"amount":100,"currency":"EUR","externalTransactionId":"order-1"}' \\
    http://127.0.0.1:9090/secure/api/v1/integration/deposit-order/
  curl -H "Authorization: Bearer $TOKEN" \\
    http://127.0.0.1:9090/secure/api/v1/integration/deposit-order/order-1/status-by-external-transaction-id

Make something go wrong, and see what the sandbox knows:
  curl -d '{"name":"http_503","probability":0.2,"forSeconds":60}' -H 'Content-Type: application/json' http://127.0.0.1:9090/admin/faults
  curl -d '{"name":"authz","share":0.4,"forSeconds":120}' -H 'Content-Type: application/json' http://127.0.0.1:9090/admin/incidents
  curl http://127.0.0.1:9090/admin/stats

Admin API (GET /admin shows the same):
${rows(ADMIN_GUIDE.endpoints).join('\n')}

Faults:
${rows(ADMIN_GUIDE.faults).join('\n')}

Contradictions (a share of the new orders; one of each order at most):
  ${ADMIN_GUIDE.contradictions.join(', ')}

Incidents (a share of the new orders; what their histories show):
${rows(ADMIN_GUIDE.incidents).join('\n')}

What the interface does not show is the sandbox's own choice: error bodies; the 3DS link's place (paymentDetails.threeDsUrl);
amount, currency and externalTransactionId required; callbacks that are not answered with 2xx within 5 s are sent again after 0.5,
2, 8 and 30 s; the history's 6.1.1.00 does not depend on whether a callback arrived. Orders live in memory: 15 minutes after
their last item they are dropped, orders that never end after an hour, at most 100,000 are kept; unknown ids are answered 404.
Secrets may also come by SANDBOX_TOKEN and SANDBOX_CALLBACK_KEY. The P2P endpoint's token is derived from the main one.
Numbers restart with the process: the same seed makes the same ids again, so give each run its own --seed when one store keeps both.
`;
}

function rows(entries: Readonly<Record<string, string>>): string[] {
  return Object.entries(entries).map(([name, effect]) => `  ${name.padEnd(36)} ${effect}`);
}
