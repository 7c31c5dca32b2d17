import { routes } from "../src/routes.ts"
import type { Visitor } from "./startConsole.ts"

const MAX_OPENED = 1000

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)

const pages = routes.filter(({ kind }) => kind === "page").map(({ path }) => ({ path, pattern: patternOf(path) }))

/**
 * Finds an address of each page by following links and buttons from a first page. Returns the addresses by the paths of the routes.
 *
 * @param wanted - stops when this number of pages is found. Default all.
 */
export const findPages = async (
  visitor: Visitor,
  first = "/",
  wanted = pages.length,
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map([[pages.find(({ pattern }) => pattern.test(first))!.path as string, first]])
  const waiting = [first]
  // More addresses of pages that were found already. They are opened last.
  const later: Array<string> = []
  const seen = new Set(waiting)
  for (let opened = 0; found.size < wanted && opened < MAX_OPENED; opened++) {
    const address = waiting.shift() ?? later.shift()
    if (address === undefined) break
    const { status, document } = await visitor.get(address)
    if (status !== 200) throw new Error(`${address} was linked and answered ${status}`)
    // A button that opens a page is a form without fields.
    const buttons = [...document.querySelectorAll("form[method=get]")].filter(
      (form) => !form.querySelector("input, select"),
    )
    for (const link of [...document.querySelectorAll("a[href^='/']"), ...buttons]) {
      const href = (link.getAttribute("href") ?? link.getAttribute("action")!).split("#")[0]!
      const route = pages.find(({ pattern }) => pattern.test(href.split("?")[0]!))
      if (seen.has(href) || route === undefined) continue
      seen.add(href)
      if (found.has(route.path)) later.push(href)
      else {
        found.set(route.path, href)
        waiting.push(href)
      }
    }
  }
  return found
}
