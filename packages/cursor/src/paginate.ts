import { type PageFrom, readPageFrom } from "./PageFrom.ts"

/** Options of `paginate`. */
export interface PaginateOptions<Row, Position, Cursor> {
  /** Rows that were read with `limit + 1`, in query order. The extra row shows that another page follows. */
  readonly rows: ReadonlyArray<Row>
  /** Maximum number of rows of a page, at least 1. */
  readonly limit: number
  /** Returns the key values of a row. */
  readonly position: (row: Row) => Position
  /** Encodes positions as cursors. Without a codec, the page's cursors are positions. */
  readonly codec?: { readonly encode: (position: Position) => Cursor } | undefined
}

/** A page of a list that is read forwards. */
export interface Page<Row, Cursor> {
  readonly data: ReadonlyArray<Row>
  readonly has_more: boolean
  /** Cursor of the next page; null on the last page. */
  readonly next_cursor: Cursor | null
}

/** A page of a list that is read both ways. */
export interface TwoWayPage<Row, Cursor> extends Page<Row, Cursor> {
  /** Cursor of the previous page; null on the first page. */
  readonly previous_cursor: Cursor | null
}

/**
 * Creates a page from rows that were read with `limit + 1`.
 *
 * With `from`, the value that `keyset` received, the page has both cursors, and the rows of a previous page are put in list order.
 * The cursor back to the caller's page is set without checking for rows there. An empty page has no cursors.
 *
 * Throws `RangeError` unless the limit is a whole number of at least 1, and the errors of the codec.
 */
export function paginate<Row, Position, Cursor = Position>(
  options: PaginateOptions<Row, Position, Cursor> & { readonly from?: undefined },
): Page<Row, Cursor>
export function paginate<Row, Position, Cursor = Position>(
  options: PaginateOptions<Row, Position, Cursor> & { readonly from: PageFrom<Position> | null },
): TwoWayPage<Row, Cursor>
export function paginate<Row, Position, Cursor = Position>(
  options: PaginateOptions<Row, Position, Cursor> & { readonly from?: PageFrom<Position> | null | undefined },
): Page<Row, Cursor> {
  const { rows, limit, position, codec, from } = options
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError("limit must be a whole number from 1 on")
  const { position: start, isBackwards } = readPageFrom(from)
  const data = rows.slice(0, limit)
  if (isBackwards) data.reverse()
  const cursorAt = (row: Row | undefined, isFollowed: boolean): Cursor | null =>
    row === undefined || !isFollowed
      ? null
      : codec === undefined
        ? (position(row) as never)
        : codec.encode(position(row))
  const hasMore = rows.length > limit
  const next_cursor = cursorAt(data.at(-1), isBackwards ? start !== null : hasMore)
  const page = { data, has_more: next_cursor !== null, next_cursor }
  return from === undefined
    ? page
    : Object.assign(page, { previous_cursor: cursorAt(data[0], isBackwards ? hasMore : start !== null) })
}
