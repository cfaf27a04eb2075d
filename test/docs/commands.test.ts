import { expect, test } from 'vitest';
import { runCli } from '../../cli/program.ts';
import type { Host, Output } from '../../cli/terminal/host.ts';
import { readDocument, tableRows } from './markdown.ts';

test('Getting started lists the commands that the command line has, in any order', async () => {
  let help = '';
  const output: Output = {
    isTty: false,
    columns: 120,
    colour: false,
    async write(chunk) {
      help += chunk.toString();
    },
    paint: (_style, text) => text,
  };
  const host = { env: {}, stdout: output, stderr: output } as unknown as Host;
  await runCli(['--help'], host);
  const list = /^Commands:\n((?: {2}.*\n)+)/m.exec(help)?.[1] ?? '';
  const commands = Array.from(list.matchAll(/^ {2}([a-z]+)/gm), (match) => match[1]);
  const section = readDocument('docs/getting-started.md').split('## Commands')[1]?.split('\n## ')[0] ?? '';
  const documented = tableRows(section, /^`[a-z]/).map(([cell]) => /^`([a-z]+)/.exec(cell ?? '')?.[1]);
  expect(commands.length).toBeGreaterThan(5);
  expect(documented.toSorted()).toEqual(commands.toSorted());
});
