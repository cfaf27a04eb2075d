import type { AlertNumbers } from '../../schemas/alert-line.ts';
import { INCIDENT } from './links.ts';

/** What is shown before a number that has no window. */
const GAUGE_RANGE_MS = 3_600_000;

/** One evaluation: a row of `alert_evaluations`. */
export interface EvaluationKey {
  readonly rule: string;
  readonly gateway: string;
  readonly label: string;
}

/** As much before the window as the window is long, so that the change can be seen. */
export function shownRange({ windowFrom, windowTo }: Pick<AlertNumbers, 'windowFrom' | 'windowTo'>): {
  readonly from: number;
  readonly to: number;
} {
  const before = windowTo > windowFrom ? windowTo - windowFrom : GAUGE_RANGE_MS;
  return { from: Math.floor(windowFrom - before), to: Math.ceil(windowTo) };
}

/**
 * The address of an evaluation on the incident dashboard, without a host.
 */
export function incidentUrl(
  { rule, gateway, label }: EvaluationKey,
  { asOf, windowFrom, windowTo }: Pick<AlertNumbers, 'asOf' | 'windowFrom' | 'windowTo'>,
): string {
  const { from, to } = shownRange({ windowFrom, windowTo });
  const params = new URLSearchParams({
    from: String(from),
    to: String(to),
    'var-rule': rule,
    'var-gateway': gateway,
    'var-label': label,
    'var-as_of': String(Math.floor(asOf / 1000)),
  });
  return `/d/${INCIDENT.uid}?${params.toString()}`;
}
