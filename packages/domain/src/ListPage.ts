/** Rows of a list that is ordered by commit timestamps. */
export interface ListPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /**
   * Whether the rows after these bear later timestamps than the moment of reading. True for a full page; false where a transaction
   * has a timestamp already and has not ended within a second.
   */
  readonly isSettled: boolean
}
