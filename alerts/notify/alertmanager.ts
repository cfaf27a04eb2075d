import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import { notTaken, postJson, problemOf } from './post.ts';
import type { AlertTarget, TargetOptions } from './alert-target.ts';

/**
 * Alertmanager's API v2. Alerts are repeated after every evaluation, as it expects: it groups, waits and
 * repeats by its own configuration, and takes for ended what is no longer repeated.
 */
export function createAlertmanager(
  { url, username, password, token }: NonNullable<AlertsConfig['alertmanager']>,
  options: TargetOptions = {},
): AlertTarget {
  // With each request: they may be renewed.
  const authorization = () =>
    token !== undefined
      ? `Bearer ${token.reveal()}`
      : username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password?.reveal() ?? ''}`).toString('base64')}`;
  return {
    name: 'alertmanager',
    async send(alerts) {
      if (alerts.length === 0) return;
      const body = alerts.map(({ labels, annotations, startsAt, endsAt, generatorUrl }) => ({
        labels: withoutEmpty(labels),
        annotations: withoutEmpty(annotations),
        startsAt,
        endsAt,
        ...(URL.canParse(generatorUrl) ? { generatorURL: generatorUrl } : {}),
      }));
      const outcome = await postJson(`${url}/api/v2/alerts`, body, authorization(), options);
      options.onOutcome?.('alertmanager', outcome.kind);
      if (outcome.kind === 'accepted') return;
      const cause = outcome.kind === 'failed' ? outcome.cause : undefined;
      throw notTaken('alertmanager', url, problemOf(outcome), cause);
    },
  };
}

/** Alertmanager has no empty labels: one that is empty is one that is not there. */
const withoutEmpty = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
