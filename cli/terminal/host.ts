import { stripVTControlCharacters, styleText } from 'node:util';
import type { Environment } from '../../schemas/config.ts';

type TextStyle = Parameters<typeof styleText>[0];

/** A stream that people or programs read. */
export interface Output {
  readonly isTty: boolean;
  /** Characters in a line; 120 where that is not known. */
  readonly columns: number;
  /** Is colour wanted here: a terminal that shows it, and NO_COLOR is not set? */
  readonly colour: boolean;
  /** Resolves when more can be written. A reader that went away is no error. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** The text in that style, or as it is where colour is not wanted. */
  paint(style: TextStyle, text: string): string;
}

/** All that commands know of the process they run in. */
export interface Host {
  readonly env: Environment;
  /** The Node that runs us, to start others with. */
  readonly execPath: string;
  readonly nodeVersion: string;
  /** Resident memory of this process. */
  memoryBytes(): number;
  /** Processor time of this process since its start. */
  cpuSeconds(): number;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Data, and nothing else. */
  readonly stdout: Output;
  /** Logs, progress, hints and errors. */
  readonly stderr: Output;
  onSignal(handler: (signal: 'SIGINT' | 'SIGTERM') => void): void;
  /** Called when the configuration should be read again: SIGHUP. */
  onReload(handler: () => void): void;
  /** Called for uncaught errors. */
  onCrash(handler: (error: unknown) => void): void;
  /** For commands that serve others: goes on when the reader of stdout goes away. */
  outliveStdout(): void;
  /** Ends the process once everything written has left it. */
  exit(code: number): Promise<never>;
}

/** @param process the global, handed in by the entry point */
export function createHost(process: NodeJS.Process): Host {
  let outlive = false;
  // `gatewatch sql ... | head` has what it wants: nothing is left to do.
  const stdout = createOutput(process.stdout, process.env, () => outlive || process.exit(0));
  const stderr = createOutput(process.stderr, process.env, () => undefined);
  return {
    env: process.env,
    execPath: process.execPath,
    nodeVersion: process.versions.node,
    memoryBytes: () => process.memoryUsage.rss(),
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    stdin: process.stdin,
    stdout,
    stderr,
    onSignal(handler) {
      process.on('SIGINT', handler);
      process.on('SIGTERM', handler);
    },
    onReload(handler) {
      process.on('SIGHUP', handler);
    },
    onCrash(handler) {
      process.on('uncaughtException', handler);
      process.on('unhandledRejection', handler);
    },
    outliveStdout() {
      outlive = true;
    },
    async exit(code) {
      await Promise.all([stdout.write(''), stderr.write('')]);
      return process.exit(code);
    },
  };
}

function createOutput(stream: NodeJS.WriteStream, env: Environment, onGone: () => void): Output {
  const isTty = stream.isTTY === true;
  const colour = isTty && stream.hasColors(env);
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return onGone();
    throw error;
  });
  return {
    isTty,
    colour,
    get columns() {
      return isTty ? stream.columns : 120;
    },
    write: (chunk) => new Promise((resolve) => stream.write(chunk, () => resolve())),
    paint: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  };
}

/**
 * Text from elsewhere (a gateway, a file, an argument) made safe for a terminal: escape sequences would move
 * the cursor, recolour what follows or set the window's title.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(UNPRINTABLE, '\u{fffd}');
}

// oxlint-disable-next-line no-control-regex -- control characters and changes of writing direction are what is meant
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
