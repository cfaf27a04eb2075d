/**
 * How a value of a span is had from a stored row: by the collector from the row, by a view from the columns.
 */
export interface Reading<Row> {
  /** null and '': the span does not have it. */
  readonly of: (row: Row) => string | number | boolean | null;
  /** All that `of` looks at. */
  readonly columns: readonly (keyof Row)[];
  /** The same as an expression of ClickHouse's SQL over the row's columns: text, '' where `of` gives null. */
  readonly sql: string;
}

export interface Condition<Row> {
  readonly of: (row: Row) => boolean;
  readonly columns: readonly (keyof Row)[];
  readonly sql: string;
}

/** A column as it is. */
export function column<Row>(
  name: { [K in keyof Row]: Row[K] extends string | number | null ? K : never }[keyof Row] & string,
): Reading<Row> {
  return {
    of: (row) => row[name] as string | number | null,
    columns: [name],
    sql: `ifNull(toString(${name}), '')`,
  };
}

/** Something that is always either true or false. */
export function condition<Row>(
  of: (row: Row) => boolean,
  columns: readonly (keyof Row)[],
  sql: string,
): Reading<Row> {
  return { of, columns, sql: `if(${sql}, 'true', 'false')` };
}

/** What another reading gives, where a condition holds. */
export function where<Row>(holds: Condition<Row>, then: Reading<Row>): Reading<Row> {
  return {
    of: (row) => (holds.of(row) ? then.of(row) : null),
    columns: [...holds.columns, ...then.columns],
    sql: `if(${holds.sql}, ${then.sql}, '')`,
  };
}
