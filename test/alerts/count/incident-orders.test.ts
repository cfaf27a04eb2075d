import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { incidentOrdersView } from '../../../alerts/count/incident-orders.ts';
import { RULES } from '../../../alerts/rules/all.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../schemas/sql', import.meta.url));

it('the newest migration that defines incident_orders has the text that the rules give', () => {
  const texts = readdirSync(MIGRATIONS)
    .toSorted()
    .map((name) => readFileSync(`${MIGRATIONS}/${name}`, 'utf8'))
    .filter((text) => text.includes('CREATE OR REPLACE VIEW incident_orders AS'));
  // A rule that counts otherwise needs a new migration with the new text.
  expect(texts.at(-1)).toContain(incidentOrdersView(RULES));
});
