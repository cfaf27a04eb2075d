import { panelId } from '../../dashboards/house/ids.ts';

/** What pages link to, beside the dashboards: made in `alerts/grafana/`. */
export const INCIDENT = { uid: 'gatewatch-incident', seen: 'incident-seen' } as const;
export const RUNBOOKS = { uid: 'gatewatch-runbooks' } as const;

/** Key of the panel that holds a rule's runbook. */
export const runbookPanel = (ruleName: string): string => `runbook-${ruleName}`;

/** A rule's runbook on the dashboard of runbooks, without a host. */
export const runbookUrl = (ruleName: string): string =>
  `/d/${RUNBOOKS.uid}?viewPanel=panel-${panelId(runbookPanel(ruleName))}`;
