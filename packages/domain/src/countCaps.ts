/** How far rows are counted for operators: a count that reaches it stands for as many or more. */
export const COUNT_CAP = 10_000
/** The same, for each line of a list. */
export const LIST_COUNT_CAP = 1000
