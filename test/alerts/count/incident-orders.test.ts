import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { incidentOrdersView } from '../../../alerts/count/incident-orders.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { INCIDENT_ORDERS } from '../../../schemas/names.ts';
import { DERIVED_VIEW_FILES } from '../../../store/package-files.ts';

it('the view that a collector applies has the text that the rules give', () => {
  const file = DERIVED_VIEW_FILES.find((path) => path.endsWith(`${INCIDENT_ORDERS}.sql`)) ?? '';
  expect(readFileSync(file, 'utf8')).toContain(incidentOrdersView(RULES));
});
