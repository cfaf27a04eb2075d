import { readFileSync, writeFileSync } from 'node:fs';
import { TRACE_VIEWS_FILE } from './package-files.ts';
import { traceViews } from './trace-views.ts';

/** Writes the views that are made from the contract of spans; with `--check` tells whether they are there. */
function main(check: boolean): number {
  const isFresh = traceViews() === current();
  if (check) {
    if (!isFresh) console.error('Stale, run "npm run generate": store/out/views/traces.sql');
    return isFresh ? 0 : 1;
  }
  writeFileSync(TRACE_VIEWS_FILE, traceViews());
  console.error(`store: ${isFresh ? 0 : 1} of 1 files changed`);
  return 0;
}

function current(): string | null {
  try {
    return readFileSync(TRACE_VIEWS_FILE, 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.main) process.exitCode = main(process.argv.includes('--check'));
