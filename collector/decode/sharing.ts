/** Values remembered for rows that are alike in the first of the columns. */
const MOST_ALIKE = 64;

/**
 * Makes the same object again for rows that are equal in all of `columns`, as rows of one order or of one
 * code are. The first column distinguishes most of them. For one list of rows: what is remembered goes with
 * it.
 */
export function sharing<Row, Value>(
  columns: readonly (keyof Row)[],
  make: (row: Row) => Value,
): (row: Row) => Value {
  const [first] = columns;
  if (first === undefined) throw new RangeError('no column distinguishes rows');
  const others = columns.slice(1);
  const known = new Map<Row[keyof Row], { readonly row: Row; readonly value: Value }[]>();
  return (row) => {
    let alike = known.get(row[first]);
    if (alike === undefined) known.set(row[first], (alike = []));
    for (const one of alike) if (areEqual(one.row, row, others)) return one.value;
    const value = make(row);
    // Beyond it, looking takes longer than making.
    if (alike.length < MOST_ALIKE) alike.push({ row, value });
    return value;
  };
}

function areEqual<Row>(one: Row, other: Row, columns: readonly (keyof Row)[]): boolean {
  for (const column of columns) if (one[column] !== other[column]) return false;
  return true;
}
