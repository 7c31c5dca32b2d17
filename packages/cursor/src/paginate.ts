import { type PageFrom, readPageFrom } from "./PageFrom.ts"

/** What a page is made of. */
export interface PaginateOptions<Row, Position, Cursor> {
  /** Rows that were read with `limit + 1`, in the order in which they were read. The one too many shows that more follow. */
  readonly rows: ReadonlyArray<Row>
  /** The most rows of a page, from 1 on. */
  readonly limit: number
  /** Where a row stands in the list: the values of its key. */
  readonly position: (row: Row) => Position
  /** Turns positions into cursors. Without it, the cursors of the page are positions. */
  readonly codec?: { readonly encode: (position: Position) => Cursor } | undefined
}

/** A page of a list that is read forwards. */
export interface Page<Row, Cursor> {
  readonly data: ReadonlyArray<Row>
  readonly has_more: boolean
  /** After which the list goes on; null at its end. */
  readonly next_cursor: Cursor | null
}

/** A page of a list that is read both ways. */
export interface TwoWayPage<Row, Cursor> extends Page<Row, Cursor> {
  /** Before which the list goes back; null at its beginning. */
  readonly previous_cursor: Cursor | null
}

/**
 * Makes a page of rows that were read with `limit + 1`.
 *
 * With `from`, the same value that `keyset` got, the page has both ends, and the rows of a previous page are turned around. An end
 * where the caller came from has a cursor without a look at the rows there; an empty page has no cursor.
 *
 * Throws `RangeError` on a limit that is not a whole number from 1 on, and what the codec throws.
 */
export function paginate<Row, Position, Cursor = Position>(
  options: PaginateOptions<Row, Position, Cursor> & { readonly from?: undefined },
): Page<Row, Cursor>
export function paginate<Row, Position, Cursor = Position>(
  options: PaginateOptions<Row, Position, Cursor> & { readonly from: PageFrom<Position> | null },
): TwoWayPage<Row, Cursor>
export function paginate<Row, Position, Cursor = Position>({
  rows,
  limit,
  position,
  codec,
  from,
}: PaginateOptions<Row, Position, Cursor> & { readonly from?: PageFrom<Position> | null | undefined }): Page<
  Row,
  Cursor
> {
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
  const goesOn = rows.length > limit
  const next_cursor = cursorAt(data.at(-1), isBackwards ? start !== null : goesOn)
  const page = { data, has_more: next_cursor !== null, next_cursor }
  return from === undefined
    ? page
    : Object.assign(page, { previous_cursor: cursorAt(data[0], isBackwards ? goesOn : start !== null) })
}
