import type { Logger } from 'pino';
import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import type { Silence } from '../../schemas/silence.ts';
import type { Alert } from '../explain/alert.ts';
import { createAlertmanager } from './alertmanager.ts';
import type { AlertTarget, TargetOptions } from './alert-target.ts';
import { createWebhook } from './webhook.ts';

/** The targets that are configured. */
export function createTargets(config: AlertsConfig, options: TargetOptions = {}): AlertTarget[] {
  return [
    ...(config.alertmanager === undefined ? [] : [createAlertmanager(config.alertmanager, options)]),
    ...(config.webhook === undefined ? [] : [createWebhook(config.webhook, options)]),
  ];
}

/**
 * Takes alerts to one target, beside the evaluation: a target that is slow or says nothing delays neither the
 * rules nor the other targets. While one delivery is under way only the newest offer waits, since it holds
 * all that older ones did.
 */
export interface Sender {
  readonly name: AlertTarget['name'];
  offer(alerts: readonly Alert[], now: number, silences: readonly Silence[] | null): void;
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>;
}

interface Offer {
  readonly alerts: readonly Alert[];
  readonly now: number;
  readonly silences: readonly Silence[] | null;
}

export function createSender(target: AlertTarget, log: Logger): Sender {
  let next: Offer | undefined;
  let underWay: Promise<void> | undefined;
  const deliver = async (): Promise<void> => {
    for (let offer = next; offer !== undefined; offer = next) {
      next = undefined;
      const { alerts, now, silences } = offer;
      try {
        await target.send(alerts, now, silences);
      } catch (error) {
        log.error(
          { target: target.name, alerts: alerts.length, err: error },
          'alerts could not be delivered; they are offered again',
        );
      }
    }
    underWay = undefined;
  };
  return {
    name: target.name,
    offer(alerts, now, silences) {
      next = { alerts, now, silences };
      underWay ??= deliver();
    },
    async idle() {
      await underWay;
    },
  };
}
