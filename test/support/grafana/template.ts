import type { Labels } from './math.ts';

/**
 * Renders annotations as Grafana would, for the forms that our rules use:
 *
 *     {{ .Labels.NAME }}   {{ .Labels.NAME | urlquery }}   {{ printf "%.Nf" .Values.REF.Value }}
 *     {{ humanizePercentage .Values.REF.Value }}           {{ humanizeTimestamp .Values.REF.Value }}
 *     {{ externalURL }}: nothing, so that links stay relative
 *     {{ if .Labels.NAME }} ... {{ end }}, not nested
 */

export interface TemplateContext {
  readonly labels: Labels;
  readonly values: Readonly<Record<string, number | null>>;
}

/**
 * @throws when the text uses another form. A value that is not there reads
 * `?`.
 */
export function renderTemplate(text: string, context: TemplateContext): string {
  const chosen = text.replace(IF, (_, label: string, then: string) =>
    (context.labels[label] ?? '') === '' ? '' : then,
  );
  return chosen.replace(/\{\{\s*(.*?)\s*\}\}/g, (_, action: string) => {
    if (action === 'externalURL') return '/';
    const label = LABEL.exec(action);
    if (label !== null) {
      const value = context.labels[label[1] ?? ''] ?? '';
      return label[2] === undefined ? value : urlQuery(value);
    }
    const value = VALUE.exec(action);
    if (value === null)
      throw new Error(`the annotation uses {{ ${action} }}, which cannot be rendered without Grafana`);
    const [, format, decimals, ref = ''] = value;
    const number = context.values[ref];
    if (number === null || number === undefined) return '?';
    if (decimals !== undefined) return number.toFixed(Number(decimals));
    return format === 'humanizePercentage' ? percentage(number) : timestamp(number);
  });
}

const IF = /\{\{ if \.Labels\.(\w+) \}\}(.*?)\{\{ end \}\}/g;
const LABEL = /^\.Labels\.(\w+)(\s*\|\s*urlquery)?$/;
const VALUE = /^(humanizePercentage|humanizeTimestamp|printf "%\.(\d)f") \.Values\.(\w+)\.Value$/;

/** Go's url.QueryEscape: blanks become plus signs. */
const urlQuery = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** Go's %.4g of a percentage. */
const percentage = (share: number): string => `${Number((share * 100).toPrecision(4))}%`;

const timestamp = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().replace('T', ' ').slice(0, 19)} +0000 UTC`;
