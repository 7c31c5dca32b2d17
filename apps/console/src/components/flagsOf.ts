/** Returns values as the flags of a command; one that is undefined is left out, and one that is more than a word is quoted. */
export const flagsOf = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => {
      if (value === undefined) return []
      const text = String(value)
      return [` --${name} ${/^[\w.,:/-]+$/.test(text) ? text : `"${text}"`}`]
    })
    .join("")
