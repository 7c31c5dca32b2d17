const numbers = new Intl.NumberFormat("en-US")

/** Writes how many there are of something: `1 dead letter`, `1,200 dead letters`. */
export const formatCount = (count: number, one: string): string =>
  `${numbers.format(count)} ${count === 1 ? one : `${one}s`}`
