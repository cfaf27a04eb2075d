import { ALERT_RULES, type AlertRuleName } from './names.ts';

/** As uids and short names are compared: in any case, without `Gatewatch`. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/^gatewatch/, '')
    .replaceAll('-', '');

/**
 * The rule that a person means: by its name, with or without `Gatewatch`, or its uid
 * (`gatewatch-tech-timeouts`), in any case; null when there is none.
 */
export function readRuleName(text: string): AlertRuleName | null {
  return ALERT_RULES.find((name) => plain(name) === plain(text)) ?? null;
}

/** What to say where there is none: it names rules that resemble it. */
export function noSuchRule(text: string): string {
  const wanted = plain(text);
  const words = wanted.match(/.{1,4}/g) ?? [];
  const near = ALERT_RULES.filter((name) =>
    words.some((word) => word.length > 3 && plain(name).includes(word)),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.slice(0, 3).join(', ')}?`;
  return `no rule is called ${text}.${hint} "gatewatch alerts" lists all`;
}
