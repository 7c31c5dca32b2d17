/** Where a page begins or ends: after a position, or before one, which is a previous page. Without either, at the beginning of the list. */
export interface PageFrom<Position> {
  readonly after?: Position | null | undefined
  /** "end" reads the last page. */
  readonly before?: Position | "end" | null | undefined
}

/** Reads a `PageFrom`; throws `TypeError` where it has both ends. */
export function readPageFrom<Position>(from: PageFrom<Position> | null | undefined): {
  /** Null at the beginning of the list and at its end. */
  readonly position: Position | null
  readonly isBackwards: boolean
} {
  const { after = null, before = null } = from ?? {}
  if (after !== null && before !== null) throw new TypeError("from must have after or before, not both")
  return { position: before === "end" ? null : (before ?? after), isBackwards: before !== null }
}
