import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { alertsPage } from './generator/alerts.ts';
import { codesPage } from './generator/codes.ts';
import { configurationPage } from './generator/configuration.ts';
import { metricsPage } from './generator/metrics.ts';
import { semanticConventionsPage } from './generator/semantic-conventions.ts';
import { semanticConventionsYaml } from './generator/semantic-conventions-yaml.ts';
import { signatureCausesPage } from './generator/signature-causes.ts';
import { viewsPage } from './generator/views.ts';

/** The generated pages: path below docs/ and text. */
export function pages(): ReadonlyMap<string, string> {
  return new Map([
    ['reference/alerts.md', alertsPage()],
    ['reference/codes.md', codesPage()],
    ['reference/signature-causes.md', signatureCausesPage()],
    ['reference/views.md', viewsPage()],
    ['semantic-conventions.md', semanticConventionsPage()],
    ['reference/semantic-conventions.yaml', semanticConventionsYaml()],
    ['reference/metrics.md', metricsPage()],
    ['reference/configuration.md', configurationPage()],
  ]);
}

/** Pages whose file differs from what would be generated now. */
export function stalePages(): string[] {
  return [...pages()].filter(([file, text]) => current(file) !== text).map(([file]) => file);
}

const locate = (file: string): string => path.join(import.meta.dirname, file);

function current(file: string): string | undefined {
  try {
    return readFileSync(locate(file), 'utf8');
  } catch {
    return undefined;
  }
}

function main(check: boolean): number {
  const stale = stalePages();
  if (check) {
    if (stale.length === 0) return 0;
    console.error(`Stale, run "node docs/generate.ts": ${stale.map((file) => `docs/${file}`).join(', ')}`);
    return 1;
  }
  for (const [file, text] of pages()) writeFileSync(locate(file), text);
  console.error(`docs: ${stale.length} of ${pages().size} pages changed`);
  return 0;
}

if (import.meta.main) process.exitCode = main(process.argv.includes('--check'));
