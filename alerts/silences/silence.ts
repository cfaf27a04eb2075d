import type { Silence } from '../../schemas/silence.ts';

/** What a silence is compared with. */
export interface SilencedAlert {
  readonly rule: string;
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
  /** Epoch milliseconds. */
  readonly firedAt: number;
}

/**
 * The silence or acknowledgement that holds for an alert at an instant, or null. A silence counts more than
 * an acknowledgement, and of two silences the one that ends last.
 */
export function silenceOf(silences: readonly Silence[], alert: SilencedAlert, nowMs: number): Silence | null {
  const holding = silences.filter((silence) => isActive(silence, nowMs) && matches(silence, alert));
  return holding.toSorted((a, b) => strength(b) - strength(a) || b.createdAt - a.createdAt)[0] ?? null;
}

/** Has it begun, and not ended? What was taken back is not among those that are read. */
export const isActive = ({ createdAt, until }: Silence, nowMs: number): boolean =>
  createdAt <= nowMs && (until === null || until > nowMs);

/** Does it speak of this alert? One that fires later than its acknowledgement is another. */
export const matches = (silence: Silence, alert: SilencedAlert): boolean =>
  (['rule', 'gateway', 'slice', 'label'] as const).every(
    (name) => silence[name] === '' || silence[name] === alert[name],
  ) &&
  (silence.kind === 'silenced' || alert.firedAt <= silence.createdAt);

/** Those that a person has to know of: an acknowledgement whose alerts have ended is over. */
export const silencesToShow = (
  silences: readonly Silence[],
  firing: readonly SilencedAlert[],
): readonly Silence[] =>
  silences.filter(
    (silence) => silence.kind === 'silenced' || firing.some((alert) => matches(silence, alert)),
  );

const strength = ({ kind, until }: Silence): number => (kind === 'silenced' ? (until ?? 0) : -1);
