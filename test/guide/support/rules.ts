import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const RULES = fileURLToPath(
  new URL('../../../alerts/out/provisioning/alerting/gatewatch-rules.yaml', import.meta.url),
);

/** How long a generated rule takes its time: the same rule, evaluated every two seconds. */
export interface Pace {
  /** How long the condition must hold before it fires. */
  readonly for: string;
  /** How long it must be gone before it is over. */
  readonly keepFiringFor: string;
}

/**
 * A folder with one of the generated rules as it is, but for the pace. What it counts, over which windows and
 * with which limits, is untouched.
 */
export function folderWithRule(name: string, pace: Pace): string {
  const file = parse(readFileSync(RULES, 'utf8')) as {
    groups: { interval: string; rules: { title: string }[] }[];
  };
  const groups = file.groups
    .map((group) => ({
      ...group,
      interval: '2s',
      rules: group.rules.filter(({ title }) => title === name).map((rule) => ({ ...rule, ...pace })),
    }))
    .filter(({ rules }) => rules.length > 0);
  const folder = mkdtempSync(join(tmpdir(), 'gatewatch-guide-rules-'));
  writeFileSync(join(folder, 'rules.yaml'), stringify({ ...file, groups }));
  return folder;
}
