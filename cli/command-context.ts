import { GatewatchError } from '../schemas/errors.ts';
import type { Host } from './terminal/host.ts';

/** Documented in `--help`; scripts rely on them. */
export const EXIT = { done: 0, failed: 1, usage: 2, unknown: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandContext {
  readonly host: Host;
  /** What the command ended with; set by its action. */
  exitCode: number;
}

/** Options that every command has, given before or after its name. */
export interface GlobalOptions {
  readonly config?: string;
}

/** A use of the command line that cannot be meant. */
export function usageError(message: string): GatewatchError {
  return new GatewatchError(message, { code: 'usage' });
}

/** Prints a value for machines: one JSON text, one line end. */
export async function printJson(host: Host, value: unknown): Promise<void> {
  await host.stdout.write(`${JSON.stringify(value)}\n`);
}
