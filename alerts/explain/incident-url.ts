import type { AlertNumbers } from '../../schemas/alert-line.ts';
import { WHOLE } from '../count/slices.ts';
import { INCIDENT } from './links.ts';

/** What is shown before a number that has no window. */
const GAUGE_RANGE_MS = 3_600_000;

/** One evaluation: a row of `alert_evaluations`. */
export interface EvaluationKey {
  readonly rule: string;
  readonly gateway: string;
  /** '' for the whole gateway. */
  readonly slice: string;
  readonly label: string;
}

type Times = Pick<AlertNumbers, 'asOf' | 'windowFrom' | 'windowTo'>;

/**
 * As much before the window as the window is long, so that the change can be seen; up to the evaluation,
 * which comes after its window.
 */
export function shownRange({ asOf, windowFrom, windowTo }: Times): {
  readonly from: number;
  readonly to: number;
} {
  const before = windowTo > windowFrom ? windowTo - windowFrom : GAUGE_RANGE_MS;
  return { from: Math.floor(windowFrom - before), to: Math.ceil(asOf) };
}

/** As people read and write it, in UTC: `2026-11-25 10:15:00`. */
const secondText = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

/**
 * The address of an evaluation on the incident dashboard, without a host.
 */
export function incidentUrl({ rule, gateway, slice, label }: EvaluationKey, times: Times): string {
  const { from, to } = shownRange(times);
  const params = new URLSearchParams({
    from: String(from),
    to: String(to),
    'var-rule': rule,
    'var-gateway': gateway,
    ...(slice === WHOLE ? {} : { 'var-slice': slice }),
    'var-label': label,
    'var-as_of': secondText(new Date(times.asOf)),
  });
  return `/d/${INCIDENT.uid}?${params.toString()}`;
}
