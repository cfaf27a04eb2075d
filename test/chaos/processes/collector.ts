import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAIN, type ConfigInput } from '../../support/collector-process.ts';
import type { Exchange } from '../wire/exchange.ts';
import type { Link } from '../wire/link.ts';
import { createProgram, type Program } from './program.ts';

/** A collector's three ways out, each through a proxy of its own. */
export interface Links {
  readonly store: Link | null;
  readonly gateway: Link;
  readonly kafka: Link;
}

/** `gatewatch run` as its supervisor sees it. */
export interface Collector {
  readonly name: string;
  readonly program: Program;
  readonly links: Links;
  readonly http: string;
  /** Environment of the next start, on top of nothing. */
  env: Record<string, string>;
  /**
   * Milliseconds from the start of the process that runs now to its first acknowledged progress; rejects
   * after that time.
   */
  progress(withinMs: number): Promise<number>;
  /** How often it said this. */
  said(message: string): number;
  isReady(): Promise<boolean>;
  /** Orders it watches now; null without an answer. */
  watched(): Promise<number | null>;
  /** Waits for `/readyz`. @throws Error after that time */
  ready(withinMs: number): Promise<void>;
}

export interface CollectorOptions {
  readonly name: string;
  readonly folder: string;
  readonly links: Links;
  readonly httpPort: number;
  readonly config: ConfigInput;
}

export function createCollector(options: CollectorOptions): Collector {
  const { name, links } = options;
  const configFile = path.join(options.folder, `${name}.yaml`);
  const logFile = path.join(options.folder, `${name}.log`);
  writeFileSync(configFile, JSON.stringify(options.config));
  const http = `http://127.0.0.1:${options.httpPort}`;
  const messages = new Map<string, number>();
  let env: Record<string, string> = {};
  const program = createProgram({
    name,
    args: [MAIN, 'run', '--config', configFile],
    env: () => env,
    onLine(line) {
      appendFileSync(logFile, `${line}\n`);
      const message = /"msg":"([^"]*)"/.exec(line)?.[1] ?? '';
      messages.set(message, (messages.get(message) ?? 0) + 1);
    },
  });

  let firstMs: number | null = null;
  let waiting: ((ms: number) => void)[] = [];
  program.onStart(() => (firstMs = null));
  // A batch in the ledger is complete; the embedded store has no proxy, there a commit says the same.
  const isProgress =
    links.store === null
      ? ({ name: what, status }: Exchange) => what === 'OffsetCommit' && status === 0
      : ({ name: what, status }: Exchange) => what === 'insert ingest_ledger' && status === 200;
  (links.store ?? links.kafka).onAnswered((exchange) => {
    if (firstMs !== null || !program.isRunning || !isProgress(exchange)) return;
    firstMs = performance.now() - program.startedAtMs;
    for (const resolve of waiting) resolve(firstMs);
    waiting = [];
  });

  const ready = async () => {
    try {
      const reply = await fetch(`${http}/readyz`, { signal: AbortSignal.timeout(2000) });
      return { ok: reply.ok, body: (await reply.json()) as { watched?: number } };
    } catch {
      return null;
    }
  };

  return {
    name,
    program,
    links,
    http,
    get env() {
      return env;
    },
    set env(value) {
      env = value;
    },
    async progress(withinMs) {
      if (firstMs !== null && program.isRunning) return firstMs;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      waiting.push(resolve);
      const timer = setTimeout(
        () => reject(new Error(`${name} made no progress within ${withinMs} ms`)),
        withinMs,
      );
      return promise.finally(() => clearTimeout(timer));
    },
    said: (message) => messages.get(message) ?? 0,
    isReady: async () => (await ready())?.ok === true,
    watched: async () => (await ready())?.body.watched ?? null,
    async ready(withinMs) {
      const deadline = performance.now() + withinMs;
      while ((await ready())?.ok !== true) {
        if (performance.now() > deadline) {
          const lastWords = program.endings.at(-1)?.lastWords.join('\n') ?? '';
          throw new Error(`${name} was not ready within ${withinMs} ms\n${lastWords}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}
