import type { SpanExporterStatus } from '../../../schemas/sink.ts';

/** How far the export of spans is. Batches are numbered from 1. */
export interface ExportState {
  /** The last batch whose spans were sent in full. */
  readonly doneBatch: number;
  /** What of it the store has noted. */
  readonly savedBatch: number;
  /** The last batch that is known to be in the ledger. */
  readonly lastBatch: number;
  readonly spansExported: number;
  readonly lastError: string | null;
}

export const INITIAL_STATE: ExportState = {
  doneBatch: 0,
  savedBatch: 0,
  lastBatch: 0,
  spansExported: 0,
  lastError: null,
};

export type ExportChange =
  /** The progress was read from the store. */
  | { readonly type: 'resumed'; readonly doneBatch: number }
  /** A batch is in the ledger. */
  | { readonly type: 'announced'; readonly batch: number }
  /** The ledger has nothing behind it. */
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
        doneBatch: change.doneBatch,
        savedBatch: change.doneBatch,
        lastBatch: Math.max(state.lastBatch, change.doneBatch),
      };
    case 'announced':
      return { ...state, lastBatch: Math.max(state.lastBatch, change.batch) };
    case 'exhausted':
      // The ledger is the truth: what was announced is not there, e.g. because its rows have expired.
      return { ...state, lastBatch: state.doneBatch };
    case 'sent':
      return { ...state, spansExported: state.spansExported + change.spans };
    case 'exported':
      return { ...state, doneBatch: change.to };
    case 'saved':
      return { ...state, savedBatch: state.doneBatch };
    case 'failed':
      return { ...state, lastError: change.error };
    case 'answered':
      return { ...state, lastError: null };
  }
}

export const hasBacklog = ({ doneBatch, lastBatch }: ExportState): boolean => doneBatch < lastBatch;
export const isProgressUnsaved = ({ doneBatch, savedBatch }: ExportState): boolean =>
  doneBatch !== savedBatch;

export function statusOf({
  doneBatch,
  lastBatch,
  spansExported,
  lastError,
}: ExportState): SpanExporterStatus {
  return {
    state: lastError === null ? 'ok' : 'retrying',
    doneBatch,
    backlogBatches: Math.max(0, lastBatch - doneBatch),
    spansExported,
    lastError,
  };
}
