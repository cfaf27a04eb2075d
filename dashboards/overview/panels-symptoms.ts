import { SYMPTOMS, type SymptomName } from '../house/symptoms.ts';
import { AUTHZ_FAILURES, type ShareGate, SIGNATURE_MISMATCHES, TECH_TIMEOUTS } from '../house/thresholds.ts';
import { label, percent, volume } from '../house/fields.ts';
import { timeSeriesPanel } from '../house/panels.ts';
import { symptomShareSql } from './queries.ts';

/** The shares that alert rules watch, with the limits they fire on. A rule names its panel by the key. */
interface SymptomPanel {
  readonly key: string;
  readonly symptom: SymptomName;
  readonly gate: ShareGate;
  readonly title: string;
  readonly what: string;
}

function symptomShare({ key, symptom, gate, title, what }: SymptomPanel) {
  const name = `${label('gateway')} ${label(SYMPTOMS[symptom].splitBy)}`;
  return timeSeriesPanel({
    key,
    title,
    description:
      `${what} Bars are the orders behind each share. The dashed line is the limit of the alert rule: it fires when the share over ${gate.windowSeconds / 60} minutes is above ` +
      `${percent(gate.shareAbove)} allowing for chance, and at least ${gate.minimumAffectedOrders} orders are affected. Next: the rule's runbook.`,
    sql: symptomShareSql(symptom),
    unit: 'percentunit',
    decimals: 1,
    size: [8, 8],
    max: 1,
    ruleLimit: gate.shareAbove,
    legendValues: ['mean', 'max', 'lastNotNull'],
    series: {
      '/^share\\b/': { title: name },
      '/^orders\\b/': { ...volume(`orders ${name}`), volumeBars: true, notInLegend: true },
    },
  });
}

export const techTimeouts = symptomShare({
  key: 'tech-timeouts',
  symptom: 'techTimeouts',
  gate: TECH_TIMEOUTS,
  title: 'Orders with timeouts, share by stage',
  what: 'Orders with reason 11 (TECH.TIMEOUT) at gateway create and at check, out of the orders seen there.',
});
export const authzFailures = symptomShare({
  key: 'authz-failures',
  symptom: 'authzFailures',
  gate: AUTHZ_FAILURES,
  title: 'Orders refused access, share by stage',
  what: 'Orders with reason 21 or 22 (401, 403) at gateway create and at check, out of the orders seen there.',
});
export const signatureMismatches = symptomShare({
  key: 'signature-mismatches',
  symptom: 'signatureMismatches',
  gate: SIGNATURE_MISMATCHES,
  title: 'Orders with wrong signatures, by side',
  what: 'Side gateway: orders with 5.2.2.16 out of those with a gateway callback. Side ours: orders named by callbacks to us that do not verify, out of all that callbacks named.',
});
