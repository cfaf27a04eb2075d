import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from '../../sandbox/server.ts';
import { startCollectorProcess, type CollectorProcess } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';

/**
 * What a whole `gatewatch run` with an embedded store costs, evaluation of the rules and all that is kept
 * included: while nothing happens, and with new orders whose callbacks come over HTTP, as the sandbox sends
 * them at its own speed. `node test/bench/run-at-rest.ts [MINUTES] [ORDERS A SECOND ...]`, by default five
 * minutes of none and as many of two.
 */

const MINUTE_MS = 60_000;

async function runAt(ratePerSecond: number, minutes: number): Promise<void> {
  const port = await freePort();
  const sandbox = await createSandbox({
    seed: 'rest',
    ratePerSecond,
    callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox` },
    watchUrl: `http://127.0.0.1:${port}/orders`,
  });
  await using collector = await startCollectorProcess({
    config: {
      gateways: [
        {
          name: 'sandbox',
          secureUrl: sandbox.secureUrl,
          token: sandbox.token,
          callbackKeys: [sandbox.callbackKey],
        },
      ],
      http: { port },
      embedded: { fsync: true },
    },
  });
  try {
    sandbox.start();
    // What a start does once is not what a run costs.
    await sleep(MINUTE_MS);
    for (let minute = 1; minute <= minutes; minute += 1) console.log(await measureMinute(collector, minute));
    const [{ callbacks, items } = { callbacks: 0, items: 0 }] = await collector.query<{
      callbacks: number;
      items: number;
    }>('SELECT (SELECT count() FROM callbacks) AS callbacks, (SELECT count() FROM history_events) AS items');
    console.log(`${ratePerSecond} orders a second: ${callbacks} callbacks, ${items} items`);
  } finally {
    await sandbox.stop();
  }
}

/** The engine runs in a process of its own, the child of the collector. */
async function measureMinute({ pid }: CollectorProcess, minute: number): Promise<string> {
  const before = cpuTimes();
  await sleep(MINUTE_MS);
  const after = cpuTimes();
  const share = (of: (pid: number) => boolean): string =>
    `${((cpuBetween(before, after, of) / MINUTE_MS) * 100).toFixed(2)} %`;
  const engine = [...after.keys()].filter((one) => one !== pid && one !== process.pid);
  return (
    `minute ${minute}: collector ${share((one) => one === pid)} of a core, ${residentMb(pid)} MB; ` +
    `engine ${share((one) => engine.includes(one))}, ${engine.map(residentMb).join(' + ')} MB`
  );
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

if (import.meta.main) {
  const [minutes = 5, ...rates] = process.argv.slice(2).map(Number);
  for (const rate of rates.length === 0 ? [0, 2] : rates) await runAt(rate, minutes);
}
