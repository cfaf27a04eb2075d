import { Command } from 'commander';
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addOrderIdOptions, idInShell } from '../../cli/options.ts';

/** What a command with ids makes of a command line. */
function parse(...args: string[]): { ids: string[]; options: Record<string, unknown> } {
  const program = new Command('gatewatch').option('-c, --config <file>').exitOverride();
  program.configureOutput({ writeErr: () => undefined });
  const command = program.command('watch').argument('<id...>').option('--json');
  let found = { ids: [] as string[], options: {} as Record<string, unknown> };
  addOrderIdOptions(command, { gateway: '', type: '', by: '' }).action(
    (ids: string[], _given, self: Command) => {
      found = { ids, options: self.optsWithGlobals() };
    },
  );
  program.parse(['watch', ...args], { from: 'user' });
  return found;
}

describe('an id on the command line', () => {
  it('may begin with a dash', () => {
    expect(parse('-abc')).toEqual({ ids: ['-abc'], options: {} });
    expect(parse('-1', 'b', '-abc', '--type', 'Deposit', '-x', '--json').ids).toEqual([
      '-1',
      'b',
      '-abc',
      '-x',
    ]);
    expect(parse('-abc', '--type', 'Withdrawal').options).toEqual({ type: 'Withdrawal' });
    expect(parse('--json', '-abc', '--', '-t', '--by')).toEqual({
      ids: ['-abc', '-t', '--by'],
      options: { json: true },
    });
    expect(parse('--', '--abc').ids).toEqual(['--abc']);
    expect(parse('a', '--', '-c').ids).toEqual(['a', '-c']);
  });

  it('that begins as an option does is one behind -- only', () => {
    expect(parse('a', '-gacme')).toEqual({ ids: ['a'], options: { gateway: 'acme' } });
    expect(parse('--', '-gacme').ids).toEqual(['-gacme']);
    expect(() => parse('a', '--tpye', 'Deposit')).toThrow(/unknown option '--tpye'/);
    expect(() => parse('--abc')).toThrow(/unknown option '--abc'/);
  });

  it('is written so that a shell reads it back', () => {
    expect(idInShell('order-1')).toBe('order-1');
    expect(idInShell('-abc')).toBe('-- -abc');
    expect(idInShell('SO 12345678')).toBe("'SO 12345678'");
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }), (id) => {
        const words = execFileSync('sh', ['-c', `printf '%s' ${idInShell(id).replace(/^-- /, '')}`], {
          encoding: 'utf8',
        });
        expect(words).toBe(id);
      }),
      { numRuns: 40 },
    );
  });
});
