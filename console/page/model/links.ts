import type { ChosenValues } from '../../../schemas/console.ts';
import type { Field } from './fields.ts';
import type { RawRange } from './time-range.ts';
import type { DataLink } from './types.ts';
import { ALL } from './url-state.ts';

/** What the placeholders of a link are filled from. */
export interface LinkContext {
  readonly variables: ChosenValues;
  /** As in the address: `now-3h` stays relative. */
  readonly range: RawRange;
  readonly field?: Field;
  readonly value?: unknown;
  /** The row's cells, by column. */
  readonly row?: Readonly<Record<string, unknown>>;
}

export interface Link {
  readonly title: string;
  readonly href: string;
  readonly newTab: boolean;
}

/** Links of a value, filled in. What is no address of ours or of the web is left out. */
export function linksOf(links: readonly DataLink[] | undefined, context: LinkContext): Link[] {
  return (links ?? []).flatMap(({ title, url }) => {
    const href = fill(url, context, true);
    if (!/^(?:\/(?!\/)|https?:\/\/)/i.test(href)) return [];
    return [{ title: fill(title, context, false), href, newTab: !href.startsWith('/') }];
  });
}

/** Replaces `${...}` and `$name` by Grafana's grammar of links. In addresses what is put in is encoded. */
export function fill(text: string, context: LinkContext, encode: boolean): string {
  const filled = text.replace(/\$\{([^}]+)\}|\$(\w+)/g, (whole, braced?: string, bare?: string) => {
    const [, name = '', format] = /^(.*?)(?::(\w+))?$/.exec(braced ?? bare ?? '') ?? [];
    const found = lookUp(name, format, context);
    if (found === null) return bare === undefined ? '' : whole;
    if (found.encoded) return found.text;
    return encode || format === 'percentencode' ? encodeURIComponent(found.text) : found.text;
  });
  // A parameter that came out empty leaves two ampersands, or one after the question mark.
  return encode ? filled.replace(/([?&])&+/g, '$1') : filled;
}

type Found = { readonly text: string; readonly encoded: boolean } | null;
const plain = (value: unknown): Found => ({
  text: value === null || value === undefined ? '' : String(value as string),
  encoded: false,
});
const query = (text: string): Found => ({ text, encoded: true });

function lookUp(name: string, format: string | undefined, context: LinkContext): Found {
  const { variables, range, field, value, row } = context;
  const [, cell] = /^__data\.fields\.(\w+)$/.exec(name) ?? [];
  if (cell !== undefined) return plain(row?.[cell]);
  const [, label] = /^__field\.labels\.(\w+)$/.exec(name) ?? [];
  if (label !== undefined) return plain(field?.labels[label]);
  if (name === '__value.raw') return plain(value);
  if (name === '__url_time_range')
    return query(new URLSearchParams({ from: range.from, to: range.to }).toString());
  if (format === 'queryparam') return query(queryParams(name, variables));
  const chosen = variables[name];
  return chosen === undefined ? null : plain(chosen.join(','));
}

/** `var-gateway=a&var-gateway=b`; nothing for a variable that the page does not have, as the data source. */
function queryParams(name: string, variables: ChosenValues): string {
  const values = variables[name] ?? [];
  return values.map((value) => `var-${name}=${encodeURIComponent(value === ALL ? ALL : value)}`).join('&');
}
