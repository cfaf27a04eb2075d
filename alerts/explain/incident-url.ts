import type { AlertNumbers } from '../../schemas/alert-line.ts';

/** Uid of the dashboard that shows one evaluation, and the orders behind it. */
const INCIDENT_UID = 'gatewatch-incident';
/** What is shown before a number that has no window. */
const GAUGE_RANGE_MS = 3_600_000;

/** One evaluation: a row of `alert_evaluations`. */
export interface EvaluationKey {
  readonly rule: string;
  readonly gateway: string;
  readonly label: string;
}

/**
 * The address of an evaluation on the incident dashboard, without a host. Its range shows as much before the
 * window as the window is long, so that the change can be seen.
 */
export function incidentUrl(
  { rule, gateway, label }: EvaluationKey,
  { asOf, windowFrom, windowTo }: Pick<AlertNumbers, 'asOf' | 'windowFrom' | 'windowTo'>,
): string {
  const before = windowTo > windowFrom ? windowTo - windowFrom : GAUGE_RANGE_MS;
  const params = new URLSearchParams({
    from: String(Math.floor(windowFrom - before)),
    to: String(Math.ceil(windowTo)),
    'var-rule': rule,
    'var-gateway': gateway,
    'var-label': label,
    'var-as_of': String(Math.floor(asOf / 1000)),
  });
  return `/d/${INCIDENT_UID}?${params.toString()}`;
}
