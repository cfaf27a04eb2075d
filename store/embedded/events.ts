/** Something the owner's log should know. Never holds a secret or a statement. */
export interface EmbeddedStoreEvent {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly [field: string]: unknown;
}
