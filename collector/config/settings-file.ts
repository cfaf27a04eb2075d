import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { describe } from '../../schemas/redact.ts';
import { isMapping, type Settings } from './environment.ts';

/**
 * The settings in a YAML (or JSON) file as they are written, nothing filled in. Errors name file and line,
 * never the text, which may be a secret. A key without a value (`http:` with everything below it commented
 * out) counts as absent.
 *
 * @returns null after a problem, which is added to `problems`
 */
export function readSettingsFile(file: string, problems: string[]): Settings | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    problems.push(`${file}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'error'})`);
    return null;
  }
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) {
    for (const error of document.errors) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      problems.push(`${file}:${line}: not valid YAML (${error.code})`);
    }
    return null;
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch {
    problems.push(`${file}: not valid YAML (an alias without its anchor, or too many of them)`);
    return null;
  }
  if (isMapping(value)) return withoutEmpty(value);
  const received = typeof value === 'string' ? 'a text' : describe(value);
  problems.push(`${file}: expected a mapping of settings, received ${received}`);
  return null;
}

function withoutEmpty(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}
