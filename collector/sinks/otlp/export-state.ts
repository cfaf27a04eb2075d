import type { SpanExporterStatus } from '../../../schemas/sink.ts';

/** How far the export of spans is. Batches are numbered from 1. */
export interface ExportState {
  /** The last batch whose spans were sent in full. */
  readonly cursor: number;
  /** The cursor as the store has it. */
  readonly savedCursor: number;
  /** The last batch that is known to be in the ledger. */
  readonly lastBatch: number;
  readonly spansExported: number;
  readonly lastError: string | null;
}

export const INITIAL_STATE: ExportState = {
  cursor: 0,
  savedCursor: 0,
  lastBatch: 0,
  spansExported: 0,
  lastError: null,
};

export type ExportChange =
  /** The cursor was read from the store. */
  | { readonly type: 'resumed'; readonly cursor: number }
  /** A batch is in the ledger. */
  | { readonly type: 'announced'; readonly batch: number }
  /** The ledger has nothing behind the cursor. */
  | { readonly type: 'exhausted' }
  | { readonly type: 'sent'; readonly spans: number }
  /** All spans up to that batch were sent. */
  | { readonly type: 'exported'; readonly to: number }
  | { readonly type: 'saved' }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'answered' };

export function nextState(state: ExportState, change: ExportChange): ExportState {
  switch (change.type) {
    case 'resumed':
      return {
        ...state,
        cursor: change.cursor,
        savedCursor: change.cursor,
        lastBatch: Math.max(state.lastBatch, change.cursor),
      };
    case 'announced':
      return { ...state, lastBatch: Math.max(state.lastBatch, change.batch) };
    case 'exhausted':
      // The ledger is the truth: what was announced is not there, e.g. because its rows have expired.
      return { ...state, lastBatch: state.cursor };
    case 'sent':
      return { ...state, spansExported: state.spansExported + change.spans };
    case 'exported':
      return { ...state, cursor: change.to };
    case 'saved':
      return { ...state, savedCursor: state.cursor };
    case 'failed':
      return { ...state, lastError: change.error };
    case 'answered':
      return { ...state, lastError: null };
  }
}

export const hasBacklog = ({ cursor, lastBatch }: ExportState): boolean => cursor < lastBatch;
export const isCursorUnsaved = ({ cursor, savedCursor }: ExportState): boolean => cursor !== savedCursor;

export function statusOf({ cursor, lastBatch, spansExported, lastError }: ExportState): SpanExporterStatus {
  return {
    state: lastError === null ? 'ok' : 'retrying',
    cursor,
    backlogBatches: Math.max(0, lastBatch - cursor),
    spansExported,
    lastError,
  };
}
