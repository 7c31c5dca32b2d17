/** Where a page starts: after a position (next page) or before one (previous page). Without either, at the start of the list. */
export interface PageFrom<Position> {
  readonly after?: Position | null | undefined
  /** "end" reads the last page. */
  readonly before?: Position | "end" | null | undefined
}

/** Reads a `PageFrom`. Throws `TypeError` if both `after` and `before` are set. */
export function readPageFrom<Position>(from: PageFrom<Position> | null | undefined): {
  /** Null at the start and at the end of the list. */
  readonly position: Position | null
  readonly isBackwards: boolean
} {
  const { after = null, before = null } = from ?? {}
  if (after !== null && before !== null) throw new TypeError("from must have after or before, not both")
  return { position: before === "end" ? null : (before ?? after), isBackwards: before !== null }
}
