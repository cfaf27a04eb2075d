import { WINDOWS } from '../../schemas/windows.ts';
import type { Sandbox } from '../server.ts';

/** What happens when, in seconds after the first order. */
export interface Plan {
  readonly incidentAtS: number;
  readonly incidentForS: number;
  /** No more orders from here on; what is under way is read to its end. Null: never. */
  readonly quietAtS: number | null;
}

/**
 * Rules look at windows that end half a minute ago, so that late items count: an incident has to begin early
 * in a short demo to be seen at its end.
 */
export function planFor(seconds: number | null): Plan {
  if (seconds === null) return { incidentAtS: 20, incidentForS: 90, quietAtS: null };
  return { incidentAtS: seconds * 0.12, incidentForS: seconds * 0.4, quietAtS: seconds - 8 };
}

/**
 * From when on an evaluation has most of the incident in its windows, in milliseconds after the first order.
 * A minute later it shows the end as well, and a short incident would be over already.
 */
export const evaluableAtMs = ({ incidentAtS, incidentForS }: Plan): number =>
  (incidentAtS + 0.75 * incidentForS + WINDOWS.lagSeconds) * 1000;

/**
 * The incident: half of the new orders time out at the gateway, and a third of the callbacks are signed
 * wrongly.
 */
export function provokeIncident(sandbox: Sandbox, forSeconds: number): void {
  sandbox.incidents.start({ name: 'tech_timeout', share: 0.5, forSeconds });
  sandbox.faults.add({ name: 'callback_wrong_signature', probability: 0.35, forSeconds });
}

/** A little of everything that a decoder meets in life, all the time. */
export function seasonTraffic(sandbox: Sandbox): void {
  sandbox.faults.add({ name: 'unknown_code', probability: 0.02 });
  sandbox.faults.add({ name: 'legacy_code', probability: 0.02 });
  sandbox.faults.add({ name: 'callback_duplicate', probability: 0.03 });
  sandbox.faults.add({ name: 'http_423', probability: 0.01, endpoint: 'status' });
}

/**
 * Leaves a note on the dashboards, as a deployment would. The demo goes on when the collector does not take
 * it.
 * @param collector address of its interface
 */
export async function annotate(
  collector: string,
  note: { readonly title: string; readonly text: string; readonly forSeconds: number },
): Promise<void> {
  const [startsAt, endsAt] = [Date.now(), Date.now() + note.forSeconds * 1000].map((ms) =>
    new Date(ms).toISOString(),
  );
  const { title, text } = note;
  await fetch(`${collector}/annotations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title, text, startsAt, endsAt, tags: ['demo'] }),
    signal: AbortSignal.timeout(5_000),
  }).catch(() => undefined);
}
