import type { Command } from 'commander';
import type { DecodedCode } from '../../schemas/code.ts';
import { printJson, type CommandContext } from '../command-context.ts';
import { printable, type Output } from '../terminal/host.ts';
import { drawTable } from '../terminal/table.ts';

const HELP = `
Codes have the form A.C.B.RR: stage, result of the operation, state of the payment, reason.
A code of the older form, or one that is no code at all, is an answer too: the exit code is 0.

Examples:
  $ gatewatch decode 2.2.4.11 4.1.4.63
  $ gatewatch decode 4.1.4.63 --json
  $ gatewatch decode 3.0.1.51 6.1.1.00 --json | jq -r .description

With --json each code is one object on a line of its own.`;

export function addDecode(program: Command, { host }: CommandContext): void {
  program
    .command('decode')
    .description('explain history codes')
    .argument('<code...>', 'codes such as 2.2.4.11')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', HELP)
    .action(async (codes: string[], options: { json?: true }) => {
      const { decode } = await import('../../collector/decode/code.ts');
      const decoded = codes.map((code) => decode(code));
      if (options.json === true) {
        for (const code of decoded) await printJson(host, code);
        return;
      }
      await host.stdout.write(drawCodes(host.stdout, decoded));
    });
}

function drawCodes(output: Output, codes: readonly DecodedCode[]): string {
  return drawTable(output, {
    headers: ['CODE', 'STAGE', 'RESULT', 'STATE', 'REASON', 'CATALOGUED', 'DESCRIPTION'],
    rows: codes.map((code) => [
      output.paint('bold', printable(code.action)),
      code.stage ?? '-',
      resultCell(output, code),
      stateCell(output, code),
      reasonCell(code),
      code.catalogued ? 'yes' : 'no',
      code.description ?? output.paint('yellow', UNDECODED[code.format]),
    ]),
  });
}

const UNDECODED: Readonly<Record<DecodedCode['format'], string>> = {
  v2: '',
  legacy: 'a code of the older form, whose layout is not published: kept as it is',
  unrecognized: 'not a code A.C.B.RR with known segments: kept as it is',
};

export function resultCell(output: Output, code: Pick<DecodedCode, 'result'>): string {
  if (code.result === null) return '-';
  return code.result === 'FAILURE' ? output.paint('red', code.result) : code.result;
}

export function stateCell(output: Output, code: { readonly state: string | null }): string {
  if (code.state === null) return '-';
  if (code.state === 'SUCCESS') return output.paint('green', code.state);
  return code.state === 'FAILED' ? output.paint('red', code.state) : code.state;
}

export function reasonCell(code: {
  readonly reasonCode: number | null;
  readonly reasonGroup: string | null;
  readonly reasonDetail: string | null;
}): string {
  if (code.reasonCode === null) return '-';
  if (code.reasonCode === 0) return 'none';
  return `${code.reasonGroup}.${code.reasonDetail} (${code.reasonCode})`;
}
