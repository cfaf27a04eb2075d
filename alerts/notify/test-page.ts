import type { AlertsConfig } from '../../schemas/config-alerts.ts';
import type { Severity } from '../rules/rule.ts';
import { type Alert, fingerprintOf } from '../explain/alert.ts';
import type { AlertTarget } from './alert-target.ts';
import { createTargets } from './delivery.ts';

/** What a target said to the test page. */
export interface TestPageAnswer {
  readonly target: AlertTarget['name'];
  readonly url: string;
  readonly accepted: boolean;
  /** Why not; null when it was accepted. */
  readonly error: string | null;
}

/** Receivers take it for ended after that. */
const LASTS_MS = 5 * 60_000;

/**
 * An alert that says that it is a test, on the way that a real one of this severity takes. `now`: epoch
 * milliseconds.
 */
function testAlert(severity: Severity, now: number): Alert {
  const labels = {
    alertname: 'GatewatchTestPage',
    gateway: 'test',
    severity,
    side: 'gateway',
    service: 'gatewatch',
  };
  return {
    fingerprint: fingerprintOf(labels),
    status: 'firing',
    labels,
    annotations: {
      summary: 'This is a test page of gatewatch.',
      description: `Nothing is wrong. Somebody asked who is notified of an alert that is ${severity}.`,
      side: 'nobody',
      steps: '1. Report to the person who tests that it came.\n2. Report how long it took.\n3. Nothing else.',
    },
    startsAt: new Date(now),
    endsAt: new Date(now + LASTS_MS),
    generatorUrl: '',
    values: {},
  };
}

/** Sends one test page to each target that is configured, and returns what they answered. */
export async function sendTestPage(
  config: AlertsConfig,
  severity: Severity,
  now: number,
): Promise<TestPageAnswer[]> {
  const alert = testAlert(severity, now);
  return Promise.all(
    createTargets(config).map(async (target): Promise<TestPageAnswer> => {
      const answer = { target: target.name, url: config[target.name]?.url ?? '' };
      try {
        await target.send([alert], now);
        return { ...answer, accepted: true, error: null };
      } catch (error) {
        return { ...answer, accepted: false, error: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}
