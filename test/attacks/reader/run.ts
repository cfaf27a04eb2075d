import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Wall } from '../../../store/embedded/child-protocol.ts';
import { startEmbeddedStore, type EmbeddedStore } from '../../../store/embedded/store.ts';
import { ENGINE_READS } from '../../../store/embedded/sandbox.ts';
import { randomFrom } from '../../support/random.ts';
import { aimed, type Attack } from './attack.ts';
import { mutations } from './mutate.ts';
import { REQUESTS } from './requests.ts';
import { sendAs } from './send.ts';
import { STATEMENTS } from './statements.ts';
import { watchProcess, whyNotWatched, type Watched } from './watch.ts';

export interface ReaderAttackOptions {
  /** Mutations, after the hand-made attacks. */
  readonly mutations: number;
  readonly seed: number;
  /** Requests at once. */
  readonly concurrency: number;
  /** Walls that are taken away, to try the others. @default none */
  readonly withoutWalls?: readonly Wall[];
  readonly say: (text: string) => void;
}

export interface ReaderAttackReport {
  readonly withoutWalls: readonly Wall[];
  readonly handMade: number;
  readonly mutations: number;
  readonly seed: number;
  /** Answers by ClickHouse's code; `ok` for mutations that a reader may run. */
  readonly answers: Readonly<Record<string, number>>;
  /** Attacks that got what they wanted, or an answer that they must not get. */
  readonly succeeded: readonly string[];
  /**
   * System calls of the engine's process that it must not make, or without the gate: that the system must
   * not have let it make. Null when it could not be watched, and with neither gate nor sandbox, when files
   * are not safe.
   */
  readonly forbiddenCalls: readonly string[] | null;
  readonly notWatched: string | null;
  /** What the system refuses the engine's process besides. */
  readonly wall: string;
  /** The engine's process was replaced so often. */
  readonly restarts: number;
  readonly seconds: number;
}

export const HAND_MADE: readonly Attack[] = [...STATEMENTS, ...REQUESTS];

const SECRET_WORD = 'gatewatch-canary-7e1c0f';
/** In a table that the views do not show, and in a statement of the writer's. */
const KEY_WORD = 'gatewatch-key-51d0aa';
const OTHERS_WORD = 'gatewatch-others-9c2b7e';
/** Parser bombs are the gate's to end: without it they only keep the engine busy. */
const GATES_OWN: ReadonlySet<string> = new Set(['length', 'compression']);
/**
 * Of the hand-made attacks none may pass: 62 is for what the engine cannot parse, 48 and 354 for encodings,
 * 73 for formats.
 */
const REFUSALS: ReadonlySet<string> = new Set(['497', '164', '62', '48', '73', '354', '457', '297', '516']);
/** What becomes of a statement that passes and has nothing in it that is a reader's. */
const HARMLESS_ERRORS: ReadonlySet<string> = new Set([
  '46', '47', '60', '63', '81', '159', '167', '168', '306', '390', '396', '456',
]); // prettier-ignore

/** Attacks the reader's door of a store of its own, and watches the engine's process meanwhile. */
export async function attackReader(options: ReaderAttackOptions): Promise<ReaderAttackReport> {
  const startedMs = performance.now();
  const { withoutWalls = [] } = options;
  const hasGate = !withoutWalls.includes('gate');
  const scene = await createScene(withoutWalls);
  const handMade = hasGate ? HAND_MADE : HAND_MADE.filter(({ group }) => !GATES_OWN.has(group));
  const { store } = scene;
  const answers: Record<string, number> = {};
  const succeeded: string[] = [];
  const notWatched = whyNotWatched();
  let watched: Watched | null = null;
  try {
    await warmUp(store);
    if (notWatched === null)
      watched = await watchProcess(store.pid, scene.isEngines, hasGate ? 'tried' : 'done');
    const judge = async (attack: Attack, isHandMade: boolean): Promise<void> => {
      const { code, text } = await send(store, aimed(attack, scene.paths));
      answers[code] = (answers[code] ?? 0) + 1;
      const leaked = scene.secrets.some((secret) => text.includes(secret));
      const isRefused = REFUSALS.has(code) || HARMLESS_ERRORS.has(code);
      // Without the gate a statement may be answered: what counts is what comes out.
      const passed = hasGate && isHandMade && !attack.mayAnswer && !isRefused;
      if (leaked || passed)
        succeeded.push(`${attack.group}: ${attack.name} -> ${code} ${text.slice(0, 200)}`);
    };
    await inParallel(handMade, options.concurrency, (attack) => judge(attack, true));
    options.say(`${handMade.length} hand-made attacks done`);
    const endless = mutations(handMade, randomFrom(options.seed));
    for (let done = 0; done < options.mutations;) {
      const some = Array.from(
        { length: Math.min(1_000, options.mutations - done) },
        () => endless.next().value,
      );
      await inParallel(some, options.concurrency, (attack) => judge(attack, false));
      done += some.length;
      options.say(`${done} of ${options.mutations} mutations done`);
    }
    succeeded.push(...(await scene.changes()));
    return {
      withoutWalls,
      handMade: handMade.length,
      mutations: options.mutations,
      seed: options.seed,
      answers,
      succeeded,
      forbiddenCalls:
        watched === null
          ? null
          : await watched.stop().then((calls) => (areFilesSafe(withoutWalls) ? calls : null)),
      notWatched,
      wall: store.sandbox,
      restarts: store.restarts,
      seconds: Math.round((performance.now() - startedMs) / 1000),
    };
  } finally {
    await store.stop();
    rmSync(scene.folder, { recursive: true, force: true });
  }
}

/** With neither gate nor sandbox nothing keeps the engine's functions from files, and nothing is claimed. */
export const areFilesSafe = (withoutWalls: readonly Wall[]): boolean => withoutWalls.length < 2;

async function createScene(withoutWalls: readonly Wall[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-attacked-'));
  const dataDir = path.join(folder, 'data');
  const outside = path.join(folder, 'outside');
  mkdirSync(outside);
  const secret = path.join(outside, 'secret');
  writeFileSync(secret, `${SECRET_WORD}\n`);
  const store = await startEmbeddedStore({
    dataDir,
    port: 0,
    fsync: false,
    // Without the gate what costs much is run.
    readerLimits: {
      maxExecutionSeconds: withoutWalls.includes('gate') ? 1 : 5,
      maxMemoryBytes: 300_000_000,
      maxResultBytes: 50_000_000,
    },
    readerViews: ['gatewatch.orders', 'gatewatch.plain'],
    readersWithoutSandbox: 'trusted_with_all_files',
    withoutWalls,
  });
  for (const sql of SCHEMA) await asWriter(store, sql);
  const objects = await asWriter(store, OBJECTS);
  const writer = path.join(dataDir, 'writer.secret');
  const writerBefore = statSync(writer).mtimeMs;
  // What the engine's process may open: its folders, and what it reads of the machine.
  const own = [path.join(dataDir, 'clickhouse'), path.join(dataDir, 'work'), ...ENGINE_READS];
  return {
    folder,
    store,
    paths: { secret, writer, out: path.join(outside, 'out') },
    secrets: [
      KEY_WORD,
      OTHERS_WORD,
      ...(areFilesSafe(withoutWalls) ? [SECRET_WORD, store.writer.password, 'root:'] : []),
    ],
    isEngines: (file: string): boolean =>
      own.some((part) => file === part || file.startsWith(`${part}/`)) ||
      file.startsWith(`${dataDir}/clickhouse-`) ||
      OWN_FIGURES.test(file),
    /** What has changed that nothing may change. */
    async changes(): Promise<string[]> {
      const found: string[] = [];
      if (readdirSync(outside).join() !== 'secret')
        found.push(`${FILES_MADE}: ${readdirSync(outside).join()}`);
      if (readFileSync(secret, 'utf8') !== `${SECRET_WORD}\n`) found.push('the secret file was changed');
      if (statSync(writer).mtimeMs !== writerBefore) found.push("the writer's secret was written");
      const rows = await asWriter(store, 'SELECT count() FROM gatewatch.plain');
      if (rows !== '1\n') found.push(`a table was changed: ${rows}`);
      const tables = await asWriter(store, OBJECTS);
      if (tables !== objects) found.push(`tables or databases came or went: ${tables}`);
      return areFilesSafe(withoutWalls) ? found : found.filter((text) => !text.startsWith(FILES_MADE));
    },
  };
}

/** Figures of the process itself, which the engine looks up by itself. */
const OWN_FIGURES =
  /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/?(?:\d+\/)?)?(?:comm|io|loginuid|maps|schedstat|stat|statm|status)?$/;

const FILES_MADE = 'files were made';
const OBJECTS =
  "SELECT groupArray((database, name)) FROM (SELECT database, name FROM system.tables WHERE database != 'system' ORDER BY ALL)";

const SCHEMA = [
  'CREATE DATABASE gatewatch',
  'CREATE TABLE gatewatch.orders_store (id UInt32, note String) ORDER BY id',
  "INSERT INTO gatewatch.orders_store SELECT number, 'n' FROM numbers(3)",
  'CREATE TABLE gatewatch.fingerprint_keys_store (key String) ORDER BY key',
  `INSERT INTO gatewatch.fingerprint_keys_store SELECT '${KEY_WORD}'`,
  'CREATE VIEW gatewatch.orders DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT id, note FROM gatewatch.orders_store',
  'CREATE TABLE gatewatch.plain (id UInt32) ORDER BY id',
  'INSERT INTO gatewatch.plain SELECT 7',
];

/**
 * The engine looks up its own symbols at the first error, which is no attack's doing; and the gate's process
 * is started.
 */
async function warmUp(store: EmbeddedStore): Promise<void> {
  await asWriter(store, `SELECT throwIf(1, '${OTHERS_WORD}')`).catch(() => undefined);
  for (const sql of ['SELECT 1', 'SELECT throwIf(1)', 'SELECT * FROM gatewatch.orders FORMAT JSON']) {
    const body = Buffer.from(sql);
    await send(store, { group: '', name: '', method: 'POST', search: {}, headers: {}, body });
  }
}

/** With the password: what matters here is what somebody may do who has it. */
function send({ url, reader }: EmbeddedStore, attack: Attack): Promise<{ code: string; text: string }> {
  return sendAs({ url, ...reader }, attack);
}

async function asWriter(store: EmbeddedStore, sql: string): Promise<string> {
  const { username, password } = store.writer;
  const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password };
  const response = await fetch(store.url, { method: 'POST', body: sql, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of iterator) await work(item);
    }),
  );
}
