import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import type { Alert } from '../explain/alert.ts';
import { createAlertmanagerSilences } from './alertmanager-silences.ts';
import { notTaken, postJson, problemOf } from './post.ts';
import type { AlertTarget, TargetOptions } from './alert-target.ts';

/**
 * Alertmanager's API v2. Alerts are repeated after every evaluation, as it expects: it groups, waits and
 * repeats by its own configuration, and takes for ended what is no longer repeated. What is silenced is sent
 * as well, since it would count as ended otherwise: the silences are passed on.
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
  const passOn = createAlertmanagerSilences(url, authorization);
  return {
    name: 'alertmanager',
    async send(alerts, now, silences = null) {
      // Before the alerts, of which it notifies by itself. That it does not take them is no reason to keep a
      // page back.
      const problem = silences === null ? null : await failureOf(passOn(silences, now));
      if (alerts.length > 0) await push(alerts);
      if (problem !== null) throw notTaken('alertmanager', url, 'silences were not passed on', problem);
    },
  };

  async function push(alerts: readonly Alert[]): Promise<void> {
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
  }
}

/** Why it failed; null: it did not. */
const failureOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** Alertmanager has no empty labels: one that is empty is one that is not there. */
const withoutEmpty = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
