import type { Logger } from 'pino';

/** Something the owner's log should know. Never holds a secret or a statement. */
export interface EmbeddedStoreEvent {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Hands events of the embedded store on to a log. */
export function logEvents(log: Logger): (event: EmbeddedStoreEvent) => void {
  return ({ level, msg, ...fields }) => log[level](fields, msg);
}
