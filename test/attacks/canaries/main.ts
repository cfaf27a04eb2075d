import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startKafka } from '../../support/kafka-broker.ts';
import { runCanaries } from './run.ts';

const USAGE = `npm run attacks:canaries -- [options]

Sends card numbers in more than forty disguises, holders, tokens and keys through every path into a collector, and looks for
them in all tables, the intake's topic, logs, spans, metrics and answers.

  --events N   events in all (default 100000)
  --json FILE  write the report there, too`;

/** Exit code 0 when nothing was found, 1 when something was, 2 for options that make no sense. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: '100000' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const events = Number(values.events);
  if (values.help || !Number.isInteger(events) || events < 1) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const startedAt = new Date().toISOString();
  const { kafka, stop } = await startKafka();
  try {
    const report = await runCanaries(events, kafka.available ? kafka.brokers : []);
    const verdict = report.found.length === 0 ? 'passed' : 'failed';
    const text = `${JSON.stringify({ verdict, startedAt, node: process.version, ...report }, null, 2)}\n`;
    process.stdout.write(text);
    if (values.json !== undefined) {
      mkdirSync(path.dirname(path.resolve(values.json)), { recursive: true });
      writeFileSync(values.json, text);
    }
    return verdict === 'passed' ? 0 : 1;
  } finally {
    await stop();
  }
}

process.exitCode = await main(process.argv.slice(2));
