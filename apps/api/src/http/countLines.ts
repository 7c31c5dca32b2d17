/** Counts the lines of a header, given in lower case, among Node's `rawHeaders`; Node itself joins them or takes the first. */
export const countLines = (rawHeaders: ReadonlyArray<string>, name: string): number =>
  rawHeaders.filter((text, i) => i % 2 === 0 && text.length === name.length && text.toLowerCase() === name).length
