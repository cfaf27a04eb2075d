import { isUsualId } from '../schemas/order-id.ts';

/**
 * Parameters travel in a statement's address. Servers take a megabyte of that, ClickHouse 128 KiB a
 * parameter, and an id of letters outside ASCII takes nine bytes for each: ids are counted by what they cost
 * there.
 */
const BYTES = 96 << 10;
/** Ids a statement, however short. */
const IDS = 1_000;
/** Quotes and comma, encoded. */
const AROUND = 9;
/** A byte becomes `%XX`, after a backslash that becomes the same. */
const WORST = 6;

/** Splits a list so that the ids of each piece, as `idsOf` names them, can be sent with one statement. */
export function* inPieces<T>(
  all: readonly T[],
  idsOf: (one: T) => readonly string[],
): Iterable<readonly T[]> {
  let piece: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const more = idsOf(one).reduce((sum, id) => sum + encodedBytes(id), 0);
    if (piece.length > 0 && (piece.length >= IDS || bytes + more > BYTES)) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(one);
    bytes += more;
  }
  if (piece.length > 0) yield piece;
}

function encodedBytes(id: string): number {
  return AROUND + (isUsualId(id) ? id.length : WORST * Buffer.byteLength(id));
}
