import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface AttackCommand {
  readonly usage: string;
  readonly messages: number;
  /** Resolves with the report, and whether the attack failed to do harm. */
  run(options: {
    readonly messages: number;
    readonly seed: number;
    readonly say: (text: string) => void;
  }): Promise<{ readonly report: object; readonly passed: boolean }>;
}

/**
 * The long form of an attack: exit code 0 when it did no harm, 1 when it did, 2 for options that make no
 * sense.
 */
export async function runAttack(command: AttackCommand, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: 'string', default: String(command.messages) },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [messages, seed] = [Number(values.messages), Number(values.seed)];
  if (values.help || ![messages, seed].every((number) => Number.isInteger(number) && number > 0)) {
    console.error(command.usage);
    return values.help ? 0 : 2;
  }
  const startedAt = new Date().toISOString();
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const { report, passed } = await command.run({ messages, seed, say });
  const whole = { verdict: passed ? 'passed' : 'failed', startedAt, node: process.version, seed, ...report };
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  process.stdout.write(text);
  if (values.json !== undefined) {
    mkdirSync(path.dirname(path.resolve(values.json)), { recursive: true });
    writeFileSync(values.json, text);
  }
  return passed ? 0 : 1;
}
