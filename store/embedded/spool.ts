import { createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A file that exists for the time of one request. */
export interface SpoolFile {
  readonly path: string;
  /** How a statement names it: relative to the engine's working directory. */
  readonly name: string;
}

export interface Spool {
  /** A name that no file has yet. */
  newFile(): SpoolFile;
  /** Writes all of `source` to a new file and gives it back; on failure no file stays behind. */
  store(source: Readable | AsyncIterable<Uint8Array>): Promise<SpoolFile>;
  remove(file: SpoolFile): Promise<void>;
}

/** Opens the folder and removes what an earlier process left in it. */
export function openSpool(folder: string): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true, recursive: true });
  let last = 0;

  const spool: Spool = {
    newFile() {
      const name = `request-${++last}`;
      return { path: join(folder, name), name: `${basename(folder)}/${name}` };
    },
    async store(source) {
      const file = spool.newFile();
      const output = createWriteStream(file.path, { flags: 'wx', mode: 0o600, highWaterMark: 1 << 20 });
      try {
        await pipeline(source, output);
      } catch (error) {
        // A source can fail before its file is there: removed sooner than made, the file would stay for good.
        if (!output.closed) await new Promise<void>((done) => output.once('close', done));
        await spool.remove(file);
        throw error;
      }
      return file;
    },
    remove: (file) => rm(file.path, { force: true }),
  };
  return spool;
}
