export const numbers = new Intl.NumberFormat("en-US")

/** Formats a number with its noun, such as `1,200 recipients`. */
export const countNoun = (n: number, noun: string, nouns = `${noun}s`): string =>
  `${numbers.format(n)} ${n === 1 ? noun : nouns}`
