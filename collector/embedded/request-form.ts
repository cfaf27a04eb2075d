import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { clickhouseError } from './clickhouse-error.ts';
import { maxStatementBytes, readHead } from './request-body.ts';

/** A request whose parameters came as a form, or any other with its body untouched. */
export interface RequestForm {
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Readable;
}

/** Reads `multipart/form-data`, in which clients send parameters too long for a URL. Other bodies pass through. */
export async function readForm(request: IncomingMessage, body: Readable): Promise<RequestForm> {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) return { fields: [], body };
  const { head, rest } = await readHead(body, maxStatementBytes);
  if (rest !== null) throw clickhouseError(297, `The form is longer than ${maxStatementBytes} bytes.`);
  const form = await new Response(new Uint8Array(head), { headers: { 'content-type': contentType } })
    .formData()
    .catch((error: unknown) => {
      throw clickhouseError(
        297,
        `The form cannot be read: ${error instanceof Error ? error.message : 'malformed'}`,
      );
    });
  const fields: (readonly [string, string])[] = [];
  for (const [name, value] of form) {
    if (typeof value !== 'string') throw clickhouseError(48, 'External tables are not supported.');
    fields.push([name, value]);
  }
  return { fields, body: Readable.from([], { objectMode: false }) };
}
