/**
 * The process that judges readers' statements. It has an engine of its own without any data, for the parser
 * alone: text can be made that a parser works on for years, and then this process ends, and nobody else.
 *
 * It talks over file descriptor 3 and lives as long as that is open. Its argument is a folder for the engine.
 */
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { loadChdb } from '../chdb-library.ts';
import { ENGINE_READS, loadKoffi, enterSandbox } from '../sandbox.ts';
import { readCatalog } from './function-rules.ts';
import { servePolicy } from './policy-server.ts';

const CHANNEL = 3;
/** Below the collector and its store. */
const NICE = 10;

const end = (): void => void process.kill(process.pid, 'SIGKILL');

const [, , folder = '.'] = process.argv;
const channel = new Socket({ fd: CHANNEL, readable: true, writable: true });
channel.on('close', end).on('error', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
setPriority(NICE);

const library = await loadChdb();
// The result is not reported: the engine's process enters the same sandbox and reports its state.
enterSandbox(
  { writable: [folder], readable: ENGINE_READS, forbidden: import.meta.filename },
  await loadKoffi(),
);
const open = () => library.openSession(join(folder, 'engine'), []);
servePolicy({ channel, open, catalog: await readCatalog(open()), end });
