import { clickhouseError } from '../clickhouse-error.ts';

export type Fields = readonly (readonly [string, string])[];

/** Is the body a form, in which clients send parameters that are too long for a URL? */
export function isForm(contentType: string): boolean {
  return /^multipart\/form-data\b/i.test(contentType);
}

/**
 * Reads a form's fields.
 *
 * @throws ClickHouseError 297 for a form that cannot be read, 48 for a file in it
 */
export async function readFields(body: Uint8Array, contentType: string): Promise<Fields> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => null);
  if (form === null) throw clickhouseError(297, 'The form cannot be read.');
  const fields: (readonly [string, string])[] = [];
  for (const [name, value] of form) {
    if (typeof value !== 'string') throw clickhouseError(48, 'External tables are not supported.');
    fields.push([name, value]);
  }
  return fields;
}
