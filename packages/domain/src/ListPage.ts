/** Rows of a list in order of commit timestamps. */
export interface ListPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /**
   * Whether all following rows have later timestamps than the time of reading. True for a full page; false if a transaction
   * already has a timestamp and hasn't ended within a second.
   */
  readonly isSettled: boolean
}
