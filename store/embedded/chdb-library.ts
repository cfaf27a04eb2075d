import type { ChdbDurableNative } from 'chdb/durable/node';
import type { EngineChunk, EngineLibrary, EngineResult, EngineSession, EngineStream } from './engine.ts';

/** The native calls behind chdb's own sessions; its types leave out the streaming ones. */
interface ChdbAddon extends ChdbDurableNative {
  QueryAsyncConnection(connection: unknown, sql: string, format: string): Promise<RawResult>;
  StreamQuery(connection: unknown, sql: string, format: string): unknown;
  StreamFetch(stream: unknown): Promise<{ done: true } | ({ done?: false } & RawChunk)>;
  StreamCancel(stream: unknown): void;
}
interface RawResult {
  readonly bytes: Buffer;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsed: number;
}
interface RawChunk {
  readonly bytes: Buffer;
  readonly numRows: number;
}

const streamCalls = ['StreamQuery', 'StreamFetch', 'StreamCancel'] as const;

/**
 * Loads the engine's library (decision 2).
 *
 * Its calls are used below chdb's `Session`, which closes no connection while any other runs a statement:
 * with a connection for every request one long query held thousands of them, of 0.4 MB each. Here a
 * connection waits for its own calls only.
 *
 * @throws when the package, or its build for this system, is not installed
 */
export async function loadChdb(): Promise<EngineLibrary> {
  const { assertDurableAbi, ChdbNodeEngine } = await import('chdb/durable/node');
  // The package does not export the addon; this object, which loads it, holds it. The version is pinned.
  const addon = assertDurableAbi(Reflect.get(new ChdbNodeEngine(), 'native')) as ChdbAddon;
  const missing = streamCalls.filter((name) => typeof addon[name] !== 'function');
  if (missing.length > 0) throw new Error(`This version of chdb lacks ${missing.join(', ')}.`);
  return {
    openSession: (path, connectionArgs) => openSession(addon, path, connectionArgs),
  };
}

function openSession(addon: ChdbAddon, path: string, connectionArgs: readonly string[]): EngineSession {
  const connection = addon.CreateConnection(path, connectionArgs);
  if (connection === null || connection === undefined) throw new Error(`No connection to ${path}`);
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | null = null;

  // Freeing a connection under a call that uses it would end the process.
  function track<T>(call: Promise<T>): Promise<T> {
    running.add(call);
    const untrack = () => void running.delete(call);
    call.then(untrack, untrack);
    return call;
  }

  return {
    async query(sql, format) {
      const result = await track(addon.QueryAsyncConnection(connection, sql, format));
      return engineResult(result);
    },
    stream: (sql, format) => openStream(addon, addon.StreamQuery(connection, sql, format), track),
    analyze: (sql, database) => track(addon.DurableClassifyAsync(connection, sql, database)),
    close() {
      closed ??= (async () => {
        while (running.size > 0) await Promise.allSettled(running);
        addon.CloseConnection(connection);
      })();
      return closed;
    },
  };
}

function openStream(
  addon: ChdbAddon,
  handle: unknown,
  track: <T>(call: Promise<T>) => Promise<T>,
): EngineStream {
  async function* chunks(): AsyncGenerator<EngineChunk, void> {
    let open = true;
    try {
      for (;;) {
        const chunk = await track(addon.StreamFetch(handle)).catch((error: unknown) => {
          open = false;
          throw error;
        });
        if (chunk.done === true) {
          open = false;
          return;
        }
        yield { bytes: chunk.bytes, rows: chunk.numRows };
      }
    } finally {
      // The library frees a stream that has ended or failed.
      if (open) addon.StreamCancel(handle);
    }
  }
  return chunks();
}

function engineResult({ bytes, rowsRead, bytesRead, elapsed }: RawResult): EngineResult {
  return { bytes, rowsRead, bytesRead, elapsedSeconds: elapsed, text: () => bytes.toString('utf8') };
}
