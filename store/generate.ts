import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ordersView } from './orders-view.ts';
import { ORDERS_TABLE_FILE, ORDERS_VIEW_FILE, packageFile, TRACE_VIEWS_FILE } from './package-files.ts';
import { traceViews } from './trace-views.ts';

/**
 * Writes what is made from the contract of spans and from the table of orders; with `--check` says whether
 * it is there.
 */
async function main(check: boolean): Promise<number> {
  const files: readonly (readonly [path: string, text: string])[] = [
    [TRACE_VIEWS_FILE, traceViews()],
    [ORDERS_VIEW_FILE, await ordersView(ORDERS_TABLE_FILE)],
  ];
  const stale = files.filter(([path, text]) => current(path) !== text);
  if (check) {
    for (const [path] of stale)
      console.error(`Stale, run "npm run generate": ${relative(packageFile('.'), path)}`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const [path, text] of stale) writeFileSync(path, text);
  console.error(`store: ${stale.length} of ${files.length} files changed`);
  return 0;
}

function current(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.includes('--check'));
