import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { cli, cliOnTerminal, MAIN } from './commands/support/cli.ts';

// oxlint-disable-next-line no-control-regex -- the escape that begins a colour
const COLOUR = /\u001b\[/;

const COMMANDS = ['run', 'store', 'doctor', 'decode', 'order', 'watch', 'sql', 'migrate', 'generate'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('help', () => {
  test('of the whole teaches by examples, exit codes and environment', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    for (const part of ['Examples:', 'Exit codes:', 'Environment:', 'GATEWATCH_CONFIG', 'NO_COLOR']) {
      expect(stdout).toContain(part);
    }
  });

  test.each(COMMANDS)('of %s has examples', async (name) => {
    const { code, stdout } = await cli([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: gatewatch ${name}`);
    expect(stdout).toContain(`$ gatewatch ${name}`);
    expect(stdout).toContain('--config');
  });

  test('is what a call without a command gets, as bad usage', async () => {
    const { code, stdout, stderr } = await cli([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Examples:');
  });
});

test('the version is that of the package', async () => {
  expect(await cli(['--version'])).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
});

describe('bad usage exits with 2 and says what is wrong', () => {
  test.each([
    [['decod'], /unknown command 'decod'\n\(Did you mean decode\?\)/],
    [['decode'], /missing required argument 'code'/],
    [['decode', '1.1.1.00', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['order', 'x', '--type', 'Refund'], /'Refund' is invalid\. Allowed: Deposit, Withdrawal\./],
    [['order', 'x', '--by', 'id'], /Allowed: external-id, transaction-id\./],
    [['order', ''], /expected 1 to 200 characters/],
    [['watch', 'x', '--amount', '1,5'], /Expected a decimal number/],
    [['sql', 'SELECT 1', '--json', '--format', 'CSV'], /exclude each other/],
    [['sql', 'SELECT 1', '--format', 'CSV; DROP'], /expected the name of a format/],
    [['sql', ' '], /the statement is empty/],
    [['store', '--port', '70000'], /--port: expected a number from 0 to 65535, received "70000"/],
    [['migrate', 'now'], /too many arguments/],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(args, { cwd: folder });
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('a configuration that is not valid exits with 2, every problem listed', () => {
  test.each([['run'], ['sql', 'SELECT 1'], ['migrate'], ['store'], ['order', 'x'], ['watch', 'x']])(
    'for %s',
    async (...args) => {
      const { code, stdout, stderr } = await cli(args, {
        cwd: folder,
        env: { GATEWATCH_HTTP_PORT: 'eighty', GATEWATCH_HTTP_HOST: '', GATEWATCH_GATEWAY_TOKEN: 's3cret' },
      });
      expect(stderr).toContain(
        '  - http.port: expected a number, received "eighty" (from GATEWATCH_HTTP_PORT)',
      );
      expect(stderr).not.toContain('s3cret');
      expect(stdout).toBe('');
      expect(code).toBe(2);
    },
  );

  test.each([
    ['before', ['--config', 'missing.yaml', 'sql', 'SELECT 1']],
    ['after', ['sql', 'SELECT 1', '-c', 'missing.yaml']],
  ])('with --config %s the command', async (_where, args) => {
    const { code, stderr } = await cli(args, { cwd: folder });
    expect(stderr).toContain('missing.yaml: cannot be read (ENOENT)');
    expect(code).toBe(2);
  });
});

describe('output', () => {
  test('has no colours in a pipe', async () => {
    const { stdout } = await cli(['decode', '2.2.4.11'], { env: { TERM: 'xterm-256color' } });
    expect(stdout).not.toMatch(COLOUR);
  });

  test('has colours on a terminal, unless NO_COLOR is set', async () => {
    const coloured = await cliOnTerminal(['decode', '2.2.4.11']);
    expect(coloured.stdout).toMatch(COLOUR);
    expect(coloured.code).toBe(0);
    const plain = await cliOnTerminal(['decode', '2.2.4.11'], { env: { NO_COLOR: '1' } });
    expect(plain.stdout).not.toMatch(COLOUR);
    expect(plain.stdout).toContain('GATEWAY_CREATE');
  });

  test('to a reader that goes away is no error', async () => {
    const codes = Array.from({ length: 20_000 }, () => '2.2.4.11').join(' ');
    const command = `'${process.execPath}' '${MAIN}' decode ${codes} --json | head -n 1; echo "\${PIPESTATUS[0]}"`;
    // A command line of that length goes through stdin of the shell.
    const shell = spawn('bash', [], { stdio: ['pipe', 'pipe', 'pipe'] });
    shell.stdin.end(command);
    const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')]);
    const lines = stdout.trim().split('\n');
    expect(stderr).toBe('');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ action: '2.2.4.11' });
    expect(lines[1]).toBe('0');
  });
});
