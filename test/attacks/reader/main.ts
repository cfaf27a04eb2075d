import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { attackBeside, type BesideReport } from './beside.ts';
import { attackReader } from './run.ts';

const BESIDE = { rate: 20, bombs: 6, connections: 300 };

const USAGE = `npm run attacks:reader -- [options]

Attacks the reader of an embedded store, password and all, while strace watches the engine's process: no file outside of its
folder is opened, no connection made, no process started.

  --statements N  statements in all: the hand-made ones and mutations of them (default 200000)
  --at-once N     requests at once (default 4)
  --beside S      then, for S seconds in peace and S under attack: what becomes of signed callbacks and of /readyz
                  while bombs fall on the reader's door (default 60, 0: not)
  --seed N        replay a run's mutations (default 1)
  --json FILE     write the report there, too`;

/** Exit code 0 when no attack succeeded, 1 when one did, 2 for options that make no sense. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      statements: { type: 'string', default: '200000' },
      'at-once': { type: 'string', default: '4' },
      beside: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const numbers = [values.statements, values['at-once'], values.seed, values.beside].map(Number);
  const [statements = 0, concurrency = 0, seed = 0, seconds = 0] = numbers;
  if (values.help || numbers.some((number) => !Number.isInteger(number) || number < 0)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const startedAt = new Date().toISOString();
  const { HAND_MADE } = await import('./run.ts');
  const mutations = Math.max(0, statements - HAND_MADE.length);
  const found = await attackReader({ mutations, concurrency, seed, say });
  const isClean = found.succeeded.length === 0 && found.forbiddenCalls?.length === 0 && found.restarts === 0;
  const beside = seconds === 0 ? null : await attackBeside({ seconds, ...BESIDE, say });
  const isHarmless = beside === null || (beside.lost === 0 && isUnharmed(beside.attacked));
  const verdict = isClean && isHarmless ? 'passed' : 'failed';
  const report = { verdict, startedAt, node: process.version, ...found, beside };
  const text = `${JSON.stringify(report, null, 2)}\n`;
  process.stdout.write(text);
  if (values.json !== undefined) {
    mkdirSync(path.dirname(path.resolve(values.json)), { recursive: true });
    writeFileSync(values.json, text);
  }
  return verdict === 'passed' ? 0 : 1;
}

/**
 * Every signed callback was answered, 99 of 100 within a second, and the collector was ready all the time.
 */
function isUnharmed({ callbacks, observed }: BesideReport['attacked']): boolean {
  const { answers, sent, latencyMs } = callbacks;
  return answers[200] === sent && latencyMs.p99 <= 1_000 && Object.keys(observed.notReady).length === 0;
}

process.exitCode = await main(process.argv.slice(2));
