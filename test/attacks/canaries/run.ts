import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readAccepted } from '../../chaos/oracle/accepted.ts';
import { MAIN } from '../../support/collector-process.ts';
import { produce } from '../../support/kafka-topics.ts';
import { writerSecret } from '../../support/store-process.ts';
import { until } from '../../support/until.ts';
import { callback, canary, foreignHeaders, GATEWAY, note, reply, watchMessage } from './events.ts';
import { startScene, type Scene } from './scene.ts';
import { findCanaries } from './search.ts';

export interface CanaryReport {
  readonly events: Readonly<Record<string, number>>;
  readonly searched: Readonly<Record<string, number>>;
  /** Texts stored as fingerprints, by field: proof that the canaries did arrive. */
  readonly masked: Readonly<Record<string, number>>;
  readonly found: readonly string[];
  readonly seconds: number;
}

const AT_ONCE = 32;
const CHUNK = 1000;

/** Sends canaries through every path, and looks for them wherever the collector writes. */
export async function runCanaries(events: number, brokers: readonly string[]): Promise<CanaryReport> {
  const startedMs = performance.now();
  const hasKafka = brokers.length > 0;
  const share = (part: number) => Math.max(120, Math.floor(events * part));
  const counts = {
    'callbacks over HTTP': share(hasKafka ? 0.5 : 0.9),
    'callbacks over Kafka': hasKafka ? share(0.3) : 0,
    'watch messages': hasKafka ? share(0.1) : 0,
    'orders over HTTP': share(0.03),
    'status replies': Math.min(2000, share(0.04)),
    'other requests': share(0.02),
    annotations: share(0.01),
  };
  const scene = await startScene(brokers);
  try {
    const answers: string[] = [];
    const { collector } = scene;
    const send = async (address: string, init: RequestInit): Promise<number> => {
      for (;;) {
        const answer = await fetch(address, {
          redirect: 'manual',
          ...init,
          headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
        });
        answers.push(await answer.text());
        // Too many at once: a sender waits and sends again.
        if (answer.status !== 429 && answer.status !== 503) return answer.status;
        await sleep(200);
      }
    };
    await watchOrders(scene, counts['status replies'], send);
    const stored = { deliveries: 0 };
    await inParallel(counts['callbacks over HTTP'], async (n) => {
      const { body, headers } = callback(n);
      const status = await send(`${collector.intake}/callbacks/${GATEWAY}`, {
        method: 'POST',
        body,
        headers,
      });
      if (status !== 200) throw new Error(`a callback was answered with ${status}`);
      stored.deliveries += 1;
    });
    await sendByKafka(scene, counts, brokers);
    await inParallel(counts['orders over HTTP'], (n) =>
      send(`${collector.http}/orders`, { method: 'POST', body: watchMessage(n) }),
    );
    await inParallel(counts['other requests'], (n) => otherRequest(scene, n, send));
    await inParallel(counts['annotations'], async (n) => {
      const status = await send(`${collector.http}/annotations`, { method: 'POST', body: note(n) });
      if (status !== 201 && status !== 400) throw new Error(`a note was answered with ${status}`);
    });
    const output = await backfill(scene);
    await untilStored(scene, counts);
    const searched: Record<string, number> = {};
    const found: string[] = [];
    const look = (where: string, text: string): void => {
      searched[where] = (searched[where] ?? 0) + text.length;
      if (found.length < 100) found.push(...findCanaries(where, text));
    };
    for await (const [table, text] of dump(scene)) look(`table ${table}`, text);
    for (const address of ['/metrics', '/readyz', '/orders/o-1', '/orders/o-6'])
      look(address, await (await fetch(collector.http + address)).text());
    look('backfill', output);
    look('answers', answers.join('\n'));
    if (hasKafka) {
      const records = await readAccepted(brokers, scene.topics.intake);
      look(
        'topic of the intake',
        records.map((record) => JSON.stringify({ ...record, value: record.value.toString() })).join('\n'),
      );
    }
    const masked = maskedCounts(await (await fetch(`${collector.http}/metrics`)).text());
    await collector.stop();
    look('log', collector.output());
    look('spans and metrics', scene.telemetry.join('\n'));
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    return { events: counts, searched, masked, found, seconds };
  } finally {
    await scene.stop();
  }
}

type Send = (address: string, init: RequestInit) => Promise<number>;

async function inParallel(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await act(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function watchOrders({ collector }: Scene, count: number, send: Send): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const orders = Array.from({ length: Math.min(500, count - from) }, (_one, index) => ({
      orderType: 'Deposit',
      externalId: `o-${from + index}`,
    }));
    const status = await send(`${collector.http}/orders`, { method: 'POST', body: JSON.stringify(orders) });
    if (status !== 202) throw new Error(`orders were answered with ${status}`);
  }
}

async function sendByKafka(
  { topics }: Scene,
  counts: Readonly<Record<string, number>>,
  brokers: readonly string[],
): Promise<void> {
  const callbacks = Array.from({ length: counts['callbacks over Kafka'] ?? 0 }, (_one, n) => {
    const { body, headers } = callback(n);
    return { key: canary(n), value: body, headers: { ...headers, ...foreignHeaders(n) } };
  });
  const messages = Array.from({ length: counts['watch messages'] ?? 0 }, (_one, n) => ({
    key: canary(n),
    value: watchMessage(n),
  }));
  for (const [topic, all] of [
    [topics.foreign, callbacks],
    [topics.watch, messages],
  ] as const) {
    for (let from = 0; from < all.length; from += CHUNK)
      await produce(brokers, topic, all.slice(from, from + CHUNK));
  }
}

/**
 * Failure paths: addresses, queries and bodies that fit nothing. Their own answers are not searched for what
 * they were asked.
 */
async function otherRequest({ collector }: Scene, n: number, send: Send): Promise<void> {
  const text = canary(n);
  const inPath = encodeURIComponent(text);
  const quiet = async (address: string, init: RequestInit = {}): Promise<void> => {
    await (await fetch(address, init)).arrayBuffer();
  };
  const forms = [
    () => quiet(`${collector.intake}/callbacks/${inPath}`, { method: 'POST', body: text }),
    () => quiet(`${collector.http}/orders/${inPath}?gateway=${inPath}&type=${inPath}`),
    () => quiet(`${collector.http}/${inPath}`),
    () => send(`${collector.http}/orders`, { method: 'POST', body: text }),
    () =>
      send(`${collector.http}/annotations`, {
        method: 'POST',
        body: JSON.stringify({ title: [text], gateway: text }),
      }),
    () =>
      quiet(`${collector.http}/healthz`, {
        headers: { Authorization: `Bearer ${encodeURI(text)}`, Cookie: encodeURI(text) },
      }),
    () => send(`${collector.intake}/callbacks/${GATEWAY}?card=${inPath}`, { method: 'PUT', body: text }),
  ];
  await forms[n % forms.length]?.();
}

/** A file of orders whose columns are in the wrong places. */
async function backfill({ collector }: Scene): Promise<string> {
  const file = path.join(collector.folder, 'orders.jsonl');
  await writeFile(file, Array.from({ length: 200 }, (_one, n) => watchMessage(n)).join('\n'));
  const args = [MAIN, 'backfill', file, '--config', collector.configFile];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return `${stdout}\n${stderr}`;
}

async function untilStored(scene: Scene, counts: Readonly<Record<string, number>>): Promise<void> {
  const { collector, asked } = scene;
  const wanted = (counts['callbacks over HTTP'] ?? 0) + (counts['callbacks over Kafka'] ?? 0);
  const stored = async () => {
    const [row] = await collector.query<{ n: number }>(
      `SELECT (SELECT count() FROM callbacks) + (SELECT count() FROM rejects WHERE reason = 'unknown_gateway'
         AND field = 'gateway' AND topic = '${scene.topics.foreign}') AS n`,
    );
    return row?.n ?? 0;
  };
  await until('every callback to be stored', stored, (n) => n >= wanted * 0.99, 600_000);
  const read = counts['status replies'] ?? 0;
  await until(
    'every order to be read',
    () => asked.size,
    (n) => n >= read,
    600_000,
  );
  // What was read last has to be stored, and its spans to be sent.
  let before = -1;
  await until(
    'the store to come to rest',
    async () => {
      const known = before;
      await sleep(1_500);
      before = (await collector.query<{ n: number }>('SELECT count() AS n FROM polls'))[0]?.n ?? 0;
      return before - known;
    },
    (more) => more === 0,
    120_000,
  );
}

/** Every row of every table, as the writer sees them. */
async function* dump({ collector }: Scene): AsyncGenerator<[table: string, text: string]> {
  const key = writerSecret(path.join(collector.folder, 'data'));
  const ask = async (sql: string): Promise<string> => {
    const headers = { 'X-ClickHouse-User': 'gatewatch', 'X-ClickHouse-Key': key };
    return (await fetch(collector.store, { method: 'POST', body: sql, headers })).text();
  };
  const tables = await ask(
    `SELECT name FROM system.tables WHERE database = 'gatewatch' AND (engine LIKE '%MergeTree' OR engine = 'View')
     AND create_table_query NOT LIKE '%{%'`,
  );
  for (const table of tables.trim().split('\n'))
    yield [table, await ask(`SELECT * FROM gatewatch.${table} FORMAT TSVRaw`)];
}

function maskedCounts(metrics: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, field = '', count] of metrics.matchAll(
    /^gatewatch_masked_texts_total\{[^}]*field="(\w+)"[^}]*\} (\d+)/gm,
  )) {
    counts[field] = Number(count);
  }
  return counts;
}

/** The first answers of the gateway, for a test to see that they hold canaries at all. */
export const sampleReplies = (): string => Array.from({ length: 60 }, (_one, n) => reply(n).body).join('\n');
