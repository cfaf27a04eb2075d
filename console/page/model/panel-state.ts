import type { AlertsAnswer, ConsoleIncident, ConsoleScope, PanelAnswer } from '../../../schemas/console.ts';
import type { RawRange, TimeRange } from './time-range.ts';

/** What a panel has to show, with the scope that it was asked for. */
export type Content =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'frames'; readonly answer: PanelAnswer } & Asked)
  /** Without incidents where they could not be asked for. */
  | ({
      readonly kind: 'alerts';
      readonly answer: AlertsAnswer;
      readonly incidents?: readonly ConsoleIncident[];
    } & Asked)
  | { readonly kind: 'failed'; readonly error: string };

export interface Asked {
  readonly scope: ConsoleScope;
  /** As in the address. */
  readonly raw: RawRange;
}

export interface PanelState {
  readonly content: Content;
  /** Figures instead of a plot. */
  readonly asTable: boolean;
  /** To be asked for once it comes into sight. */
  readonly isWanted: boolean;
  readonly isInSight: boolean;
  readonly isAsking: boolean;
  /** Number of the latest question: answers to earlier ones are late. */
  readonly question: number;
}

export type PanelEvent =
  /** New data is wanted, now or once the panel is in sight. */
  | { readonly kind: 'wanted' }
  | { readonly kind: 'sight'; readonly isInSight: boolean }
  | { readonly kind: 'answered'; readonly question: number; readonly content: Content }
  | { readonly kind: 'switched' };

/** `ask` ends the question before. */
export type PanelEffect = 'ask' | 'draw';

export const NEW_PANEL: PanelState = {
  content: { kind: 'none' },
  asTable: false,
  isWanted: false,
  isInSight: false,
  isAsking: false,
  question: 0,
};

export function panelStep(
  state: PanelState,
  event: PanelEvent,
): { readonly state: PanelState; readonly effects: readonly PanelEffect[] } {
  switch (event.kind) {
    case 'wanted':
      return state.isInSight ? asking(state) : { state: { ...state, isWanted: true }, effects: [] };
    case 'sight': {
      const seen = { ...state, isInSight: event.isInSight };
      return seen.isInSight && seen.isWanted ? asking(seen) : { state: seen, effects: [] };
    }
    case 'answered': {
      if (event.question !== state.question) return { state, effects: [] };
      return { state: { ...state, isAsking: false, content: event.content }, effects: ['draw'] };
    }
    case 'switched':
      return { state: { ...state, asTable: !state.asTable }, effects: ['draw'] };
  }
}

const asking = (state: PanelState): ReturnType<typeof panelStep> => ({
  state: { ...state, isWanted: false, isAsking: true, question: state.question + 1 },
  effects: ['ask'],
});

/** What went wrong, though there may be something to show beside it. */
export const problemOf = (content: Content): string | null =>
  content.kind === 'none' ? null : content.kind === 'failed' ? content.error : content.answer.error;

/** What the panel is waiting for while it asks: alerts are drawn over what is there, without a sign. */
export const waitingFor = ({ kind }: Content): 'loading' | 'reloading' | null =>
  kind === 'alerts' ? null : kind === 'none' ? 'loading' : 'reloading';

/**
 * The range that shows all data with a little room about it, where it helps: nothing of it is within the
 * range, or the states of a timeline huddle in a tenth of it.
 */
export function fittingRange(
  type: string,
  span: readonly [first: number, last: number],
  { from, to }: TimeRange,
): TimeRange | null {
  const [first, last] = span;
  const isOutside = last < from || first > to;
  const isNarrow = type === 'state-timeline' && last - first < (to - from) / 10;
  if (!isOutside && !isNarrow) return null;
  const room = Math.max((last - first) * 0.1, 2_000);
  return { from: Math.floor(first - room), to: Math.ceil(last + room) };
}
