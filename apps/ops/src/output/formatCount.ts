const numbers = new Intl.NumberFormat("en-US")

/** Formats a count with its noun: `1 dead letter`, `1,200 dead letters`. */
export const formatCount = (count: number, one: string): string =>
  `${numbers.format(count)} ${count === 1 ? one : `${one}s`}`
