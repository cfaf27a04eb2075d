import type { Silence } from '../../schemas/silence.ts';
import { matchersOf } from '../notify/alertmanager-silences.ts';

/**
 * Where Grafana silences the same alerts: its form, filled in. `externalUrl`: Grafana's address, '' where it
 * is not known.
 */
export function grafanaSilenceUrl(silence: Silence, externalUrl: string): string {
  const params = new URLSearchParams({ alertmanager: 'grafana' });
  for (const { name, value, isEqual } of matchersOf(silence))
    params.append('matcher', `${name}${isEqual ? '=' : '!='}${value}`);
  params.append('comment', silence.reason);
  return `${externalUrl === '' ? 'https://GRAFANA' : externalUrl}/alerting/silence/new?${params.toString()}`;
}
