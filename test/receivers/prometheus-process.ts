import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/kafka-process.ts';
import { until } from '../support/until.ts';

/** A series of an answer, with its points as text. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: string])[];
}

/** A real Prometheus that scrapes one target. */
export interface Prometheus {
  /** Every stored point of the series that match, as it was scraped. */
  points(selector: string, seconds: number): Promise<Series[]>;
  /** Points whose scrape was logged as out of order, repeated or too old. */
  refusals(): number;
  stop(): Promise<void>;
}

/** Starts the `prometheus` on the PATH, with its data in a folder of its own, and waits until it is ready. */
export async function startPrometheus(target: string, scrapeSeconds: number): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-prometheus-'));
  const config = {
    global: { scrape_interval: `${scrapeSeconds}s`, scrape_timeout: `${scrapeSeconds}s` },
    scrape_configs: [{ job_name: 'gatewatch', static_configs: [{ targets: [new URL(target).host] }] }],
  };
  // JSON is YAML, too.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  let refusals = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    refusals += text.match(/out-of-order|duplicate timestamp|Append failed/g)?.length ?? 0;
  });
  await until(
    'Prometheus to be ready',
    async () => (await fetch(`http://${address}/-/ready`).catch(() => null))?.ok === true,
    (isReady) => isReady,
  );
  return {
    async points(selector, seconds) {
      const query = new URLSearchParams({ query: `${selector}[${seconds}s]` });
      const reply = await fetch(`http://${address}/api/v1/query?${query}`);
      const answer = (await reply.json()) as { data?: { result: Series[] }; error?: string };
      if (answer.data === undefined) throw new Error(`Prometheus: ${answer.error}`);
      return answer.data.result;
    },
    refusals: () => refusals,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
