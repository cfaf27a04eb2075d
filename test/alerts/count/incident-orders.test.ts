import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { incidentOrdersView, incidentPopulationView } from '../../../alerts/count/incident-orders.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { INCIDENT_ORDERS, INCIDENT_POPULATION } from '../../../schemas/names.ts';
import { VIEW_FILES } from '../../../store/package-files.ts';

it.each([
  [INCIDENT_ORDERS, incidentOrdersView],
  [INCIDENT_POPULATION, incidentPopulationView],
])('the view %s that a collector applies has the text that the rules give', (name, text) => {
  const file = VIEW_FILES.find((path) => path.endsWith(`${name}.sql`)) ?? '';
  expect(readFileSync(file, 'utf8')).toContain(text(RULES));
});
