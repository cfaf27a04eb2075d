import type { Logger } from 'pino';
import { join } from 'node:path';
import type { Command } from 'commander';
import { GatewatchError } from '../../schemas/errors.ts';
import { EXIT, printJson, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';

interface StoreOptions extends GlobalOptions {
  readonly port?: string;
  readonly json?: true;
}

const HELP = `
For looking at what was collected while the collector is stopped, and for trying things out. While the collector runs
with the embedded store, it serves the same address itself.

Two users: 'gatewatch' may do everything, 'gatewatch_reader' may only read. Their passwords are in files that only you can
read. Only this machine can connect.

Examples:
  $ gatewatch store
  $ gatewatch store --port 0 --json           a free port; the address on stdout
  $ curl --user "gatewatch_reader:$(cat .gatewatch/reader.secret)" 'http://127.0.0.1:8123/?database=gatewatch' \\
      -d 'SELECT * FROM orders LIMIT 5'`;

export function addStore(program: Command, context: CommandContext): void {
  program
    .command('store')
    .description('serve the embedded ClickHouse alone')
    .option('-p, --port <port>', 'loopback port; 0 takes a free one (default: embedded.port, 8123)')
    .option('--json', 'address and users as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await serve(context, command.optsWithGlobals<StoreOptions>());
    });
}

async function serve({ host }: CommandContext, options: StoreOptions): Promise<number> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const config = loadStoreConfig(options.config, host.env);
  const port = options.port === undefined ? config.embedded.port : parsePort(options.port);
  const { findRunningStore } = await import('../../store/embedded/connection-file.ts');
  const running = await findRunningStore(config.dataDir);
  if (running !== null) {
    throw new GatewatchError(`The store in ${config.dataDir} is served already, at ${running.url}.`, {
      code: 'embedded_locked',
    });
  }
  const { createLog } = await import('../terminal/log.ts');
  const { logEvents } = await import('../../store/embedded/events.ts');
  const { startEmbeddedStore } = await import('../../store/embedded/store.ts');
  const log = createLog(config.log.level);
  const stopped = stopOnSignal(host, log);
  const { fsync, readerPassword, readersWithoutSandbox } = config.embedded;
  const { dataDir } = config;
  const readers = { readerPassword, readersWithoutSandbox };
  const starting = startEmbeddedStore({ dataDir, port, fsync, ...readers, log: logEvents(log) });
  const store = await Promise.race([starting, stopped]);
  // The engine ends with this process.
  if (store === undefined) return host.exit(EXIT.done);
  host.outliveStdout();
  const secretFile = join(store.dataDir, 'writer.secret');
  const readerSecretFile = join(store.dataDir, 'reader.secret');
  const isOpen = readerPassword === 'none';
  if (options.json === true) {
    const { url, dataDir, writer, reader } = store;
    const users = { writer: writer.username, reader: reader.username };
    const files = { secretFile, readerSecretFile: isOpen ? null : readerSecretFile };
    await printJson(host, { url, dataDir, ...users, ...files });
  } else {
    await host.stdout.write(`ClickHouse is ready at ${store.url}, with the data in ${store.dataDir}

  reader   ${store.reader.username}, ${isOpen ? 'no password' : `password in ${readerSecretFile}`}
  writer   ${store.writer.username}, password in ${secretFile}

Try:
  curl --user "${store.reader.username}:${isOpen ? '' : `$(cat ${readerSecretFile})`}" ${store.url} -d 'SELECT version()'
  gatewatch sql "SHOW TABLES"

Ctrl-C stops it.
`);
  }
  const down = await Promise.race([stopped, store.down]);
  await store.stop();
  if (down === undefined) return EXIT.done;
  throw down;
}

function stopOnSignal(host: CommandContext['host'], log: Logger): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let signals = 0;
  host.onSignal((signal) => {
    log.info({ signal }, 'stopping; a second signal stops at once');
    signals += 1;
    if (signals > 1) void host.exit(EXIT.failed);
    resolve(undefined);
  });
  return promise;
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw usageError(`--port: expected a number from 0 to 65535, received ${JSON.stringify(text)}`);
}
