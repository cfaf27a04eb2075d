import { fileURLToPath } from 'node:url';

export const RUNBOOKS_DIR = fileURLToPath(new URL('runbooks', import.meta.url));

/**
 * Where people read the runbooks: set it to wherever your team keeps them before you generate your own files. The default
 * is a placeholder on a domain that is reserved for examples.
 */
export const DEFAULT_RUNBOOK_BASE_URL = 'https://gatewatch.example/runbooks';

/** @param baseUrl URL of the folder of runbooks, without a trailing slash. */
export function runbookLinks(baseUrl: string = DEFAULT_RUNBOOK_BASE_URL): (ruleName: string) => string {
  return (ruleName) => `${baseUrl}/${ruleName}.md`;
}
