import { createAlertsNow } from '../../alerts/evaluate/alerts-now.ts';
import { createExplainer } from '../../alerts/explain/explainer.ts';
import { createIncidentDesk } from '../../alerts/incidents/incident-desk.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { startConsole, type RunningConsole } from '../../console/server/start.ts';
import type { AlertsNow, OpenDesk } from '../../console/server/console.ts';
import type { OpenedStore } from '../../store/open.ts';
import type { Base } from './base.ts';

/** The longest that the store works on the explanation of an alert. */
const EXPLAIN_LIMIT_S = 5;

/** The console, with the explanations of alerts. */
export function openConsole({ config, clock, log, life }: Base, opened: OpenedStore): RunningConsole {
  const { store } = opened;
  // Beneath the views, which cost a reader several times as much.
  const explainer = createExplainer({
    rules: RULES,
    query: (sql) => store.query(sql, {}, { max_execution_time: EXPLAIN_LIMIT_S }),
    monotonicMs: clock.monotonicMs,
  });
  const { timeZone } = config.alerts;
  const alertsNow: AlertsNow = (source) => createAlertsNow({ ...source, timeZone, explainer });
  const gateways = config.gateways.map(({ name }) => name);
  const desk: OpenDesk = (source) => createIncidentDesk({ ...source, store, gateways, timeZone });
  const console = startConsole(opened, clock, { alerts: alertsNow, desk }, log);
  life.onStop(() => console.stop());
  return console;
}
