import type { Environment } from '../../schemas/config.ts';
import { readFileSync } from 'node:fs';

/** What stands in the way of reading the settings: all of it is reported at once. */
export interface Findings {
  /** Full sentences, `key: what is wrong`. */
  readonly problems: string[];
  /** Keys that `problems` speaks of already, so that their missing values are not reported a second time. */
  readonly unusable: Set<string>;
  /** Where a value came from when the file does not show it: key to `${NAME}` or variable. */
  readonly origins: Map<string, string>;
}

const REFERENCE = /\$\{(file:)?([^}]+)\}/g;
const WHOLE_REFERENCE = /^\$\{[^}]+\}$/;

/**
 * Fills `${NAME}` from the environment and `${file:PATH}` from a file (one trailing newline cut) into every
 * text of the parsed file, once: what is filled in is not searched again. What is missing is a problem with
 * the setting's key, never an empty value.
 */
export function substitute(value: unknown, env: Environment, findings: Findings, path = ''): unknown {
  if (typeof value === 'string') return fill(value, env, findings, path);
  const below = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`);
  if (Array.isArray(value)) {
    return value.map((item, index) => substitute(item, env, findings, below(index)));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, substitute(inner, env, findings, below(key))]),
    );
  }
  return value;
}

function fill(text: string, env: Environment, findings: Findings, path: string): string {
  if (WHOLE_REFERENCE.test(text)) findings.origins.set(path, text);
  return text.replace(REFERENCE, (_all, file: string | undefined, name: string) => {
    const found = file === undefined ? env[name] : readSecretFile(name);
    if (found === undefined) {
      const reason = file === undefined ? `the variable ${name} is not set` : `${name} cannot be read`;
      findings.problems.push(`${path}: ${reason}`);
      findings.unusable.add(path);
    }
    return found ?? '';
  });
}

/** A file's content without its last newline, or undefined when it cannot be read. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
