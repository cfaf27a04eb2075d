import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { GatewatchError } from '../../schemas/errors.ts';
import { EXIT, type CommandContext } from '../command-context.ts';
import type { Host } from '../terminal/host.ts';

const GENERATORS = ['dashboards/generate.ts', 'alerts/grafana/generate.ts'] as const;

const HELP = `
Writes the Grafana dashboards to dashboards/out/ and the alert rules to alerts/out/, from the code beside them. Works in
a checkout of the repository; the published package has the generated files only.

Examples:
  $ gatewatch generate
  $ gatewatch generate --check       exit code 1 when a committed file is not what the code gives`;

export function addGenerate(program: Command, context: CommandContext): void {
  program
    .command('generate')
    .description('write the Grafana dashboards and alert rules')
    .option('--check', 'write nothing; fail when a file is stale')
    .addHelpText('after', HELP)
    .action(async (options: { check?: true }) => {
      context.exitCode = await generate(context.host, options.check === true);
    });
}

async function generate(host: Host, check: boolean): Promise<number> {
  const files = GENERATORS.map((name) => fileURLToPath(new URL(`../../${name}`, import.meta.url)));
  const missing = GENERATORS.filter((_name, index) => !existsSync(files[index] ?? ''));
  if (missing.length > 0) {
    throw new GatewatchError(
      `${missing.join(' and ')} cannot be found: 'generate' works in a checkout of the repository only.`,
      { code: 'usage' },
    );
  }
  let exitCode: number = EXIT.done;
  // Both, even when the first one fails: all that is stale is said at once.
  for (const file of files) {
    if ((await runNode(host, [file, ...(check ? ['--check'] : [])])) !== 0) exitCode = EXIT.failed;
  }
  return exitCode;
}

function runNode(host: Host, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(host.execPath, args, { stdio: 'inherit', env: { ...host.env } });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
