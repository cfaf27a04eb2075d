import { Readable } from 'node:stream';
import { clickhouseError } from './clickhouse-error.ts';
import { readHead, readStatement } from './request-body.ts';
import { readInsert, type InlineInsert } from './sql/insert-statement.ts';

/** Enough of a body to hold the head of any INSERT in front of its rows. */
const headBytes = 256 * 1024;

/** What a request asks for: one statement, or an INSERT whose rows follow. */
export type RequestedStatement =
  | { readonly kind: 'statement'; readonly sql: string }
  | { readonly kind: 'rows'; readonly insert: InlineInsert; readonly rows: Readable };

/**
 * Puts a request's statement together as ClickHouse does (the `query` parameter, a line end, the body)
 * without ever joining rows to it.
 *
 * @throws ClickHouseError 62 for an INSERT that cannot be read safely
 */
export async function readRequestedStatement(query: string, body: Readable): Promise<RequestedStatement> {
  const inUrl = query.trim() === '' ? null : readInsert(query);
  if (inUrl?.kind === 'inline') {
    const rest = Buffer.from(query.slice(inUrl.dataStart), 'utf8');
    return { kind: 'rows', insert: inUrl, rows: await joinRows(rest, body) };
  }
  const { head, rest } = await readHead(body, headBytes);
  const prefix = inUrl === null ? '' : `${query}\n`;
  const text = prefix + head.toString('utf8');
  const shape = readInsert(text);
  if (shape.kind === 'inline') {
    const start = Buffer.byteLength(text.slice(0, shape.dataStart)) - Buffer.byteLength(prefix);
    return { kind: 'rows', insert: shape, rows: concat(head.subarray(start), rest) };
  }
  if (shape.kind === 'unreadable') {
    throw clickhouseError(62, `Syntax error: failed in INSERT near '${shape.near}'.`);
  }
  if (shape.kind === 'no-source') {
    throw clickhouseError(
      62,
      `Syntax error: expected VALUES, FORMAT or SELECT behind ${shape.target.slice(0, 200)}.`,
    );
  }
  return { kind: 'statement', sql: rest === null ? text : text + (await readStatement(rest)) };
}

async function joinRows(fromUrl: Buffer, body: Readable): Promise<Readable> {
  if (fromUrl.toString('latin1').trim() === '') return body;
  const { head, rest } = await readHead(body, 1);
  if (head.length === 0) return Readable.from([fromUrl], { objectMode: false });
  return concat(Buffer.concat([fromUrl, Buffer.from('\n'), head]), rest);
}

function concat(head: Buffer, rest: Readable | null): Readable {
  if (rest === null) return Readable.from(head.length === 0 ? [] : [head], { objectMode: false });
  return Readable.from(
    (async function* () {
      if (head.length > 0) yield head;
      yield* rest as AsyncIterable<Buffer>;
    })(),
    { objectMode: false },
  );
}
