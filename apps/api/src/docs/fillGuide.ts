/** Inserts the values that a guide contains in double braces. Throws if a value is missing. */
export const fillGuide = (guide: string, values: Readonly<Record<string, string | number>>): string =>
  guide.replaceAll(/\{\{([\w.]+)\}\}/g, (_, name: string) => {
    if (!Object.hasOwn(values, name)) throw new Error(`a guide names ${name}, which is not a value`)
    return String(values[name])
  })
