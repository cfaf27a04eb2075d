import { spawnSync } from 'node:child_process';
import { judge } from './signatures.ts';

/**
 * `npm run audit:signatures`: are the installed packages those that their registry has signed? Ends with 1
 * when one is not, or when the reason is not known; with 0 when they are, or when the registry cannot be
 * asked, and says which of these it was.
 */
const { stdout, status } = spawnSync('npm', ['audit', 'signatures', '--json'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  timeout: 300_000,
});
const { kind, text } = judge(stdout ?? '', status);
process.stdout.write(`signatures: ${kind}${kind === 'unanswered' ? ' (nothing is proved)' : ''}\n${text}\n`);
process.exitCode = kind === 'verified' || kind === 'unanswered' ? 0 : 1;
