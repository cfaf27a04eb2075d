import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './kafka-process.ts';
import { until } from './until.ts';

export const HAS_PROMETHEUS = existsSync('/usr/bin/prometheus');

/** A real Prometheus. */
export interface Prometheus {
  readonly url: string;
  /** Values of an instant query by their labels' values, in the order of `labels`, joined with `|`. */
  query(expr: string, labels?: readonly string[]): Promise<Record<string, number>>;
  /** Trace ids of the exemplars of a query. */
  exemplars(expr: string): Promise<string[]>;
  /** Health of each target. */
  targets(): Promise<{ readonly health: string; readonly lastError: string }[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts one that scrapes these addresses every second, with these rule files, which it evaluates as often.
 *
 * @param targets as `http://host:port`
 */
export async function startPrometheus(
  targets: readonly string[],
  ruleFiles: readonly string[] = [],
): Promise<Prometheus> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-prometheus-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  for (const file of ruleFiles) {
    const copy = path.join(folder, path.basename(file));
    await copyFile(file, copy);
    await writeFile(copy, (await readFile(copy, 'utf8')).replaceAll(/interval: \d+s/g, 'interval: 1s'));
  }
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles.map((file) => path.join(folder, path.basename(file))),
    scrape_configs: [
      { job_name: 'gatewatch', static_configs: [{ targets: targets.map((one) => new URL(one).host) }] },
    ],
  };
  await writeFile(path.join(folder, 'prometheus.yml'), stringify(config));
  const child = spawn(
    '/usr/bin/prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${new URL(url).host}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore', env: { PATH: process.env['PATH'] ?? '' } },
  );
  running.add(child);
  const ended = once(child, 'close').then(() => running.delete(child));
  const ask = async <T>(what: string, params: Record<string, string>): Promise<T> => {
    const reply = await fetch(`${url}/api/v1/${what}?${new URLSearchParams(params).toString()}`);
    return ((await reply.json()) as { data: T }).data;
  };
  await until(
    'Prometheus',
    async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok ?? false,
    (ok) => ok,
  );
  return {
    url,
    async query(expr, labels = []) {
      interface Found {
        readonly result: readonly {
          readonly metric: Record<string, string>;
          readonly value: readonly [number, string];
        }[];
      }
      const { result } = await ask<Found>('query', { query: expr });
      return Object.fromEntries(
        result.map(({ metric, value }) => [
          labels.map((label) => metric[label] ?? '').join('|'),
          Number(value[1]),
        ]),
      );
    },
    async exemplars(expr) {
      type Found = readonly { readonly exemplars: readonly { readonly labels: Record<string, string> }[] }[];
      const start = String(Date.now() / 1000 - 3_600);
      const found = await ask<Found>('query_exemplars', {
        query: expr,
        start,
        end: String(Date.now() / 1000 + 60),
      });
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels['trace_id'] ?? ''));
    },
    async targets() {
      const { activeTargets } = await ask<{
        activeTargets: { readonly health: string; readonly lastError: string }[];
      }>('targets', {});
      return activeTargets;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
