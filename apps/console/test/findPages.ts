import { routes } from "../src/routes.ts"
import type { Visitor } from "./startConsole.ts"

/** How many addresses are opened to find links. */
const MAX_OPENED = 200

/** Finds an address of each page by following links from the first page, as an operator does. Returns them by the paths of the routes. */
export const findPages = async (visitor: Visitor): Promise<ReadonlyMap<string, string>> => {
  const pages = routes.filter(({ kind }) => kind === "page").map(({ path }) => ({ path, pattern: patternOf(path) }))
  const found = new Map<string, string>()
  const waiting = ["/"]
  const seen = new Set(waiting)
  for (let opened = 0; waiting.length > 0 && opened < MAX_OPENED; opened++) {
    const address = waiting.shift()!
    const route = pages.find(({ pattern }) => pattern.test(address.split("?")[0]!))
    if (route === undefined || found.has(route.path)) continue
    const { status, document } = await visitor.get(address)
    if (status !== 200) throw new Error(`${address} was linked and answered ${status}`)
    found.set(route.path, address)
    for (const link of document.querySelectorAll("a[href^='/']")) {
      const href = link.getAttribute("href")!.split("#")[0]!
      if (!seen.has(href)) waiting.push(href)
      seen.add(href)
    }
  }
  return found
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
