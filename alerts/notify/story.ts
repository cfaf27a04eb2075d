import type { Clock } from '../../schemas/clock.ts';
import type { Silence } from '../../schemas/silence.ts';
import type { TableResult } from '../../store/store.ts';
import { WHOLE } from '../count/slices.ts';
import type { Alert } from '../explain/alert.ts';
import { secondText, timesText } from '../explain/zoned.ts';
import { type Firing, incidentId, incidentsIn } from '../incidents/group.ts';
import { readFired } from '../incidents/read-incidents.ts';
import { RULES } from '../rules/all.ts';
import { labelOf } from '../rules/rule.ts';
import { silenceOf } from '../silences/silence.ts';
import { readSilences } from '../silences/silence-store.ts';

/**
 * What notifications say of alerts beside the alerts' own texts: to which incident each belongs, and what
 * holds it back. Pages matter most while the store is away: what was read before counts then.
 */
export interface Story {
  /** Reads what holds now. Resolves when that is known, or after the limit. Never rejects. */
  learn(): Promise<void>;
  /** All alerts that are offered, with incident and silence. */
  annotated(alerts: readonly Alert[], nowMs: number): Alert[];
  /** The same, of alerts that another part of the collector raises. */
  held(alerts: readonly Alert[], nowMs: number): Alert[];
  /** The silences that were read last; null: none could be read so far. */
  silences(): readonly Silence[] | null;
}

export interface StoryOptions {
  readonly query: (sql: string) => Promise<TableResult>;
  readonly clock: Clock;
  readonly timeZone?: string;
  /** So long a page waits for the store. */
  readonly limitMs: number;
}

/**
 * After a start, what has fired since then is read; an incident that is over is kept as long as it may go
 * on.
 */
const READ_MS = 86_400_000;
const KEEP_MS = 3_600_000;

export function createStory({ query, clock, timeZone = 'UTC', limitMs }: StoryOptions): Story {
  let silences: readonly Silence[] | null = null;
  let hasRead = false;
  let known: ReadonlyMap<string, Firing> = new Map();
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const nowMs = clock.now() / 1000;
    silences = await readSilences(query, nowMs);
    if (hasRead) return;
    const fired = await readFired(query, { fromMs: nowMs - READ_MS, toMs: nowMs });
    known = new Map([...fired.map((one) => [keyOf(one), one] as const), ...known]);
    hasRead = true;
  }

  const held = (alerts: readonly Alert[], nowMs: number): Alert[] =>
    alerts.map((alert) => {
      const silence = silenceOf(silences ?? [], firingOf(alert), nowMs);
      return silence === null ? alert : withSilence(alert, silence, timeZone);
    });

  return {
    async learn() {
      reading ??= read()
        .catch(() => undefined)
        .finally(() => (reading = null));
      const late = Promise.withResolvers<void>();
      const cancel = clock.after(limitMs, late.resolve);
      await Promise.race([late.promise, reading]);
      cancel();
    },
    annotated(alerts, nowMs) {
      const offered = new Map(alerts.map((alert) => [keyOf(firingOf(alert)), firingOf(alert)] as const));
      // What is no longer offered has ended.
      const before = [...known].map(
        ([key, firing]) => [key, { ...firing, endedAt: firing.endedAt ?? nowMs }] as const,
      );
      const incidents = incidentsIn([...new Map([...before, ...offered]).values()]);
      const current = incidents.filter((members) =>
        members.some(({ endedAt }) => endedAt === null || nowMs - endedAt < KEEP_MS),
      );
      known = new Map(current.flat().map((firing) => [keyOf(firing), firing]));
      const firstOf = new Map(
        current.flatMap((members) => members.map((one) => [keyOf(one), members[0] ?? one] as const)),
      );
      return held(
        alerts.map((alert) => withIncident(alert, firstOf.get(keyOf(firingOf(alert))))),
        nowMs,
      );
    },
    held,
    silences: () => silences,
  };
}

const keyOf = ({ rule, gateway, slice, label, firedAt }: Firing): string =>
  JSON.stringify([rule, gateway, slice, label, firedAt]);

/** An alert as incidents and silences see it. */
function firingOf({ labels, status, startsAt, endsAt }: Alert): Firing {
  const rule = labels['alertname'] ?? '';
  const known = RULES.find(({ name }) => name === rule);
  return {
    rule,
    gateway: labels['gateway'] ?? '',
    slice: labels['slice'] ?? WHOLE,
    label: (known === undefined ? undefined : labels[labelOf(known) ?? '']) ?? '',
    severity: labels['severity'] ?? '',
    firedAt: startsAt.getTime(),
    endedAt: status === 'firing' ? null : endsAt.getTime(),
  };
}

/** As annotations: a label would make another alert of it. */
const withIncident = (alert: Alert, first: Firing | undefined): Alert =>
  first === undefined
    ? alert
    : {
        ...alert,
        annotations: {
          ...alert.annotations,
          incident: incidentId(first),
          incident_headline: headlineOf(first),
        },
      };

const headlineOf = ({ rule, gateway }: Firing): string => {
  const summary = RULES.find(({ name }) => name === rule)?.summary ?? rule;
  return gateway === '' ? summary : `${gateway}: ${summary}`;
};

const withSilence = (alert: Alert, silence: Silence, timeZone: string): Alert => ({
  ...alert,
  held: silence.kind,
  annotations: { ...alert.annotations, [silence.kind]: silenceText(silence, timeZone) },
});

/** `until 2026-11-21 12:00:00 UTC, by Ann: the provider works on it`. */
function silenceText({ until, by, reason }: Silence, timeZone: string): string {
  const end = until === null ? '' : `until ${timesText([until * 1000], timeZone, secondText)}`;
  const who = by === '' ? '' : `by ${by}`;
  const head = [end, who].filter((part) => part !== '').join(', ');
  return head === '' ? reason : `${head}: ${reason}`;
}
