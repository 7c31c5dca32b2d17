/** Exported series by metric name: their label values. */
export type Scrape = ReadonlyMap<string, ReadonlyArray<Readonly<Record<string, string>>>>

/** Parses Prometheus text. */
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
