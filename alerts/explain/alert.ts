import { createHash } from 'node:crypto';
import { isUtc } from '../../schemas/local-time.ts';
import type { SilenceKind } from '../../schemas/silence.ts';
import { type AlertMemory, isFiring, labelKey, type Labels } from '../evaluate/alert-state.ts';
import { numbersOf } from '../evaluate/instance.ts';
import type { Rule } from '../rules/rule.ts';
import { type PageSettings, pageOf } from './page.ts';
import { secondText, shortText, timesText } from './zoned.ts';

/** An alert as receivers know it: full labels, texts, times. */
export interface Alert {
  /** Sixteen hex digits of the labels. */
  readonly fingerprint: string;
  readonly status: 'firing' | 'resolved';
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: Date;
  /** When it ended; while it fires, until when it may be taken for granted. */
  readonly endsAt: Date;
  readonly generatorUrl: string;
  readonly values: Readonly<Record<string, number | null>>;
  /** What holds its notifications back, or their repeats. @default nothing does */
  readonly held?: SilenceKind;
}

/** What a rule's alerts have in common, by which receivers are chosen. */
export const ruleLabels = ({ severity, side, risk }: Rule): Labels => ({
  severity,
  side,
  ...(risk === undefined ? {} : { risk }),
  service: 'gatewatch',
});

/**
 * The alert that a state stands for, or null: receivers do not see states that neither fire nor have just
 * ended.
 */
export function alertOf(rule: Rule, memory: AlertMemory, page: PageSettings): Alert | null {
  const firing = isFiring(memory.state);
  if (!firing && memory.resolvedAt === null) return null;
  const labels: Labels = { ...memory.labels, ...ruleLabels(rule), alertname: rule.name };
  const startsAt = memory.firingSince ?? memory.startsAt;
  const endsAt = firing ? memory.endsAt : (memory.resolvedAt ?? memory.endsAt);
  const annotations: Record<string, string> = {
    ...pageOf(rule, numbersOf(rule, memory), page),
    since: `${sinceText(rule, startsAt, page.timeZone)}${recoveringText(memory, page.timeZone)}`,
    ...zonedTimes(firing ? {} : { ended: endsAt }, page.timeZone),
  };
  return {
    fingerprint: fingerprintOf(labels),
    status: firing ? 'firing' : 'resolved',
    labels,
    annotations,
    startsAt: new Date(startsAt),
    endsAt: new Date(endsAt),
    generatorUrl: annotations['dashboard_url'] ?? '',
    values: memory.values,
  };
}

/** When its condition began to hold, and when it fired: a rule waits for a while before it pages. */
function sinceText({ pendingSeconds }: Rule, firedAt: number, timeZone: string = 'UTC'): string {
  const [began, fired] = [firedAt - pendingSeconds * 1000, firedAt].map((ms) =>
    timesText([ms * 1000], timeZone, secondText),
  );
  return began === fired ? `began and fired at ${fired}` : `began at ${began}, fired at ${fired}`;
}

/** A page that goes out while its numbers are well again says so. */
const recoveringText = ({ state, startsAt }: AlertMemory, timeZone: string = 'UTC'): string =>
  state === 'Recovering'
    ? `; recovering since ${timesText([startsAt * 1000], timeZone, shortText, false)}`
    : '';

/**
 * When it ended, by the reader's clocks beside UTC. Receivers write times themselves
 * and know UTC only: where that is the reader's, nothing has to be said.
 */
const zonedTimes = (
  times: Readonly<Record<string, number>>,
  timeZone: string = 'UTC',
): Record<string, string> =>
  isUtc(timeZone)
    ? {}
    : Object.fromEntries(
        Object.entries(times).map(([name, ms]) => [name, timesText([ms * 1000], timeZone, secondText)]),
      );

/** Identifies an alert to receivers, by its full labels. */
export const fingerprintOf = (labels: Labels): string =>
  createHash('sha256').update(labelKey(labels)).digest('hex').slice(0, 16);
