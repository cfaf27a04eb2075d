import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { clickhouseError } from './clickhouse-error.ts';
import { isForm, readFields, type Fields } from './reader/form.ts';
import { maxStatementBytes, readHead } from './request-body.ts';

/** A request whose parameters came as a form, or any other with its body untouched. */
export interface RequestForm {
  readonly fields: Fields;
  readonly body: Readable;
}

/**
 * Reads `multipart/form-data`, in which clients send parameters too long for a URL. Other bodies pass
 * through.
 */
export async function readForm(request: IncomingMessage, body: Readable): Promise<RequestForm> {
  const contentType = request.headers['content-type'] ?? '';
  if (!isForm(contentType)) return { fields: [], body };
  const { head, rest } = await readHead(body, maxStatementBytes);
  if (rest !== null) throw clickhouseError(297, `The form is longer than ${maxStatementBytes} bytes.`);
  const fields = await readFields(head, contentType);
  return { fields, body: Readable.from([], { objectMode: false }) };
}
