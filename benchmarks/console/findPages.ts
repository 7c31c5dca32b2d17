import type { RunningConsole } from "./startConsole.ts"

/** A page, by the form of its address, and the first address of that form that a link led to. */
export interface FoundPage {
  readonly pattern: string
  readonly address: string
}

/** How many addresses are opened to find links. */
const MAX_OPENED = 120

/** Finds a page of each kind by following links, as an operator does. */
export async function findPages({ url, cookie }: RunningConsole): Promise<ReadonlyArray<FoundPage>> {
  const found = new Map<string, string>()
  const waiting = ["/"]
  for (let opened = 0; waiting.length > 0 && opened < MAX_OPENED; opened++) {
    const address = waiting.shift()!
    const response = await fetch(`${url}${address}`, { headers: { cookie }, redirect: "manual" })
    if (!response.headers.get("content-type")?.startsWith("text/html")) {
      await response.body?.cancel()
      continue
    }
    if (response.status !== 200) throw new Error(`${address}: ${response.status}`)
    const page = await response.text()
    for (const [, href] of page.matchAll(/<a [^>]*href="(\/[^"#]*)"/g)) {
      const each = href!.replaceAll("&amp;", "&")
      const pattern = patternOf(each)
      if (found.has(pattern)) continue
      found.set(pattern, each)
      waiting.push(each)
    }
  }
  return [...found].map(([pattern, address]) => ({ pattern, address })).sort((a, b) => (a.pattern < b.pattern ? -1 : 1))
}

/** Returns an address with the names of its query, and without the values. */
const patternOf = (address: string): string => {
  const [path = "", search = ""] = address.split("?")
  const names = [...new Set(new URLSearchParams(search).keys())].sort()
  const shape = path.replaceAll(/\b[a-z]{3}_[0-9a-f]{32}\b/g, "…").replaceAll(/\/(?:in-\d+|\d{4}-\d\d-\d\d)\b/g, "/…")
  return names.length === 0 ? shape : `${shape}?${names.join("&")}`
}
