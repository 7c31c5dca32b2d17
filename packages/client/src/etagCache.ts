/** A body and its ETag. */
export interface Tagged {
  readonly etag: string
  readonly text: string
}

export interface EtagCache {
  readonly get: (url: string) => Tagged | undefined
  readonly set: (url: string, tagged: Tagged) => void
}

/** Creates a cache of at most `size` bodies with least-recently-used eviction. */
export function etagCache(size: number): EtagCache {
  const kept = new Map<string, Tagged>()
  const set = (url: string, tagged: Tagged): void => {
    kept.delete(url)
    kept.set(url, tagged)
    for (const oldest of kept.keys()) {
      if (kept.size <= size) break
      kept.delete(oldest)
    }
  }
  return {
    get: (url) => {
      const tagged = kept.get(url)
      if (tagged !== undefined) set(url, tagged)
      return tagged
    },
    set,
  }
}
