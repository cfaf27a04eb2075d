import { createHash } from 'node:crypto';
import { type AlertMemory, type AlertState, isFiring, labelKey } from '../evaluate/alert-state.ts';
import type { Labels } from '../evaluate/math.ts';
import type { ProvisionedRule } from '../evaluate/rule-file.ts';
import { renderTemplate } from './template.ts';

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
}

export interface AlertTexts {
  /** Base address of Grafana, for links that begin with a slash. '' leaves them as they are. */
  readonly externalUrl: string;
  /** Folder of runbooks. @default what the rule links to */
  readonly runbookUrl?: string | undefined;
}

/**
 * The alert that a state stands for, or null: receivers do not see states that neither fire nor have just
 * ended. `firedAs` is the state under which receivers know it: an end must have the name of its beginning.
 */
export function alertOf(
  rule: ProvisionedRule,
  memory: AlertMemory,
  { externalUrl, runbookUrl }: AlertTexts,
  firedAs: AlertState = memory.state,
): Alert | null {
  const firing = isFiring(memory.state);
  if (!firing && memory.resolvedAt === null) return null;
  const labels: Labels = { ...memory.labels, ...rule.labels, ...nameLabels(rule, firedAs) };
  const context = { labels: memory.labels, values: memory.values, externalUrl };
  const annotations = Object.fromEntries(
    shownAnnotations(rule).map(([name, text]) => {
      const rendered = renderTemplate(text, context);
      if (name === 'runbook_url' && runbookUrl !== undefined) return [name, `${runbookUrl}/${rule.title}.md`];
      return [name, name.endsWith('_url') && rendered.startsWith('/') ? externalUrl + rendered : rendered];
    }),
  );
  return {
    fingerprint: fingerprintOf(labels),
    status: firing ? 'firing' : 'resolved',
    labels,
    annotations: memory.error === '' ? annotations : { ...annotations, Error: memory.error },
    startsAt: new Date(memory.firingSince ?? memory.startsAt),
    endsAt: new Date(firing ? memory.endsAt : (memory.resolvedAt ?? memory.endsAt)),
    generatorUrl: annotations['dashboard_url'] ?? annotations['runbook_url'] ?? '',
    values: memory.values,
  };
}

/** Identifies an alert to receivers, by its full labels. */
export const fingerprintOf = (labels: Labels): string =>
  createHash('sha256').update(labelKey(labels)).digest('hex').slice(0, 16);

/** Annotations like `__panelId__` are Grafana's own: it does not show them to receivers. */
const shownAnnotations = (rule: ProvisionedRule): [string, string][] =>
  Object.entries(rule.annotations).filter(([name]) => !/^__.*__$/.test(name));

/**
 * Errors and missing data have names of their own, as in Grafana, so that policies can tell them from
 * incidents.
 */
function nameLabels(rule: ProvisionedRule, state: AlertState): Labels {
  if (state === 'Error') return { alertname: 'DatasourceError', rulename: rule.title };
  if (state === 'NoData') return { alertname: 'DatasourceNoData', rulename: rule.title };
  return { alertname: rule.title };
}
