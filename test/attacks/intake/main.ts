import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { attackIntake } from './run.ts';
import { failuresOf } from './verdict.ts';

const USAGE = `npm run attacks:intake -- [options]

Attacks the intake of a collector with hostile messages and slow clients, while signed callbacks come in beside them: those are
answered within a second, /readyz stays true, memory stays bounded, every message gets its own answer and every row its verdict.

  --messages N    hostile messages (default 100000)
  --slow N        connections that drip (default 500)
  --at-once N     hostile messages at once (default 128)
  --rate N        signed callbacks a second (default 20)
  --seed N        replay a run's messages (default 1)
  --json FILE     write the report there, too`;

/** Exit code 0 when the intake held, 1 when it did not, 2 for options that make no sense. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: 'string', default: '100000' },
      slow: { type: 'string', default: '500' },
      'at-once': { type: 'string', default: '128' },
      rate: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const numbers = [values.messages, values.slow, values['at-once'], values.rate, values.seed].map(Number);
  const [messages = 0, slow = 0, concurrency = 0, goodPerSecond = 0, seed = 0] = numbers;
  if (values.help || numbers.some((number) => !Number.isInteger(number) || number < 0)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const startedAt = new Date().toISOString();
  const found = await attackIntake({ messages, slow, concurrency, goodPerSecond, seed, say });
  const failures = failuresOf(found);
  const verdict = failures.length === 0 ? 'passed' : 'failed';
  const text = `${JSON.stringify({ verdict, failures, startedAt, node: process.version, ...found }, null, 2)}\n`;
  process.stdout.write(text);
  if (values.json !== undefined) {
    mkdirSync(path.dirname(path.resolve(values.json)), { recursive: true });
    writeFileSync(values.json, text);
  }
  return verdict === 'passed' ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
