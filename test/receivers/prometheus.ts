import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from '../../sandbox/server.ts';
import { gatewayConfig } from '../integration/support/gateway.ts';
import { freePort } from '../support/kafka-process.ts';
import { startCollectorProcess } from '../support/collector-process.ts';
import { runReportCommand } from '../support/report-command.ts';
import { startPrometheus, type Prometheus, type Series } from './prometheus-process.ts';

const USAGE = `npm run receivers:prometheus -- [options]

Lets a real Prometheus scrape /metrics of a collector at work: every scrape succeeds, no counter ever falls, no point
is refused, and the number of series stays within the limit.

  --seconds N     how long (default 600)
  --rate N        orders a minute (default 300)
  --scrape N      seconds between two scrapes (default 5)
  --series N      most series of the target (default 2000)
  --json FILE     write the report there, too`;

/** Until Prometheus has found its target. */
const START_S = 10;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {
      seconds: { default: 600, least: 10 },
      rate: { default: 300, least: 0 },
      scrape: { default: 5, least: 1 },
      series: { default: 2000, least: 1 },
    },
    async run({ numbers: { seconds, rate, scrape, series }, say }) {
      const seen = await scrapeFor(seconds, rate, scrape, say);
      const failures = [
        ...(seen.failed > 0 ? [`${seen.failed} of ${seen.scrapes} scrapes failed`] : []),
        ...(seen.scrapes < ((seconds - START_S) / scrape) * 0.95 ? [`only ${seen.scrapes} scrapes`] : []),
        ...(seen.refusedPoints > 0 ? [`Prometheus refused points ${seen.refusedPoints} times`] : []),
        ...(seen.seriesMost > series ? [`${seen.seriesMost} series, over the limit of ${series}`] : []),
        ...seen.fallen.map((name) => `the counter ${name} fell`),
        ...(rate > 0 && seen.polls === 0 ? ['nothing was polled'] : []),
      ];
      return { report: { failures, seconds, ordersAMinute: rate, ...seen }, passed: failures.length === 0 };
    },
  },
  process.argv.slice(2),
);

async function scrapeFor(seconds: number, rate: number, scrape: number, say: (text: string) => void) {
  const port = await freePort();
  const sandbox = await createSandbox({
    watchUrl: `http://127.0.0.1:${port}/orders`,
    callbacks: { url: `http://127.0.0.1:${port}/callbacks/sandbox` },
    speed: 10,
    ratePerSecond: rate / 60,
  });
  const collector = await startCollectorProcess({
    config: { gateways: [gatewayConfig(sandbox)], http: { port } },
  });
  const prometheus = await startPrometheus(collector.http, scrape);
  try {
    sandbox.start();
    for (let gone = 0; gone < seconds; gone += Math.min(60, seconds)) {
      await sleep(Math.min(60, seconds - gone) * 1000);
      say(`${Math.min(gone + 60, seconds)} s`);
    }
    return await readAll(prometheus, seconds + 60);
  } finally {
    await prometheus.stop();
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  }
}

async function readAll(prometheus: Prometheus, seconds: number) {
  const of = async (selector: string): Promise<Series[]> => prometheus.points(selector, seconds);
  const numbers = (series: readonly Series[]): number[] =>
    series.flatMap(({ values }) => values.map(([, value]) => Number(value)));
  const up = numbers(await of('up'));
  const durations = numbers(await of('scrape_duration_seconds')).toSorted((a, b) => a - b);
  const counters = await of('{__name__=~".+_(total|count|bucket)"}');
  const polled = numbers(await of('gatewatch_polls_total'));
  return {
    scrapes: up.length,
    failed: up.filter((value) => value !== 1).length,
    refusedPoints: prometheus.refusals(),
    scrapeMs: {
      p50: millis(durations[durations.length >> 1]),
      p99: millis(durations[Math.floor(durations.length * 0.99)]),
      max: millis(durations.at(-1)),
    },
    seriesMost: Math.max(...numbers(await of('scrape_samples_post_metric_relabeling'))),
    counterSeries: counters.length,
    fallen: [...new Set(counters.filter(hasFallen).map(({ metric }) => metric['__name__'] ?? ''))],
    polls: Math.max(0, ...polled),
  };
}

function millis(seconds: number | undefined): number {
  return Math.round((seconds ?? Number.NaN) * 10_000) / 10;
}

function hasFallen({ values }: Series): boolean {
  return values.some(([, value], index) => index > 0 && Number(value) < Number(values[index - 1]?.[1]));
}
