/** Maximum of counts for operators: a count that reaches it means "at least". */
export const COUNT_CAP = 10_000
/** The maximum for each row of a list. */
export const LIST_COUNT_CAP = 1000
