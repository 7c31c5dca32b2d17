/** Series as a process exports them, by the name of their metric: the values of their labels. */
export type Scrape = ReadonlyMap<string, ReadonlyArray<Readonly<Record<string, string>>>>

/** Reads Prometheus text. */
export const parseScrape = (text: string): Scrape => {
  const series = new Map<string, Array<Readonly<Record<string, string>>>>()
  for (const [, name, labels = ""] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const values = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value])
    const ofName = series.get(name!) ?? []
    series.set(name!, ofName)
    ofName.push(Object.fromEntries(values))
  }
  return series
}
