import { readFileSync } from "node:fs"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"

/** The path of Chromium, or the reason why it is missing. */
export const chrome = findProgram("chromium")

/** Starts Chromium for a file's tests. Returns a function that opens a page, with the messages of its console, until the end of the test. */
export const startBrowser = (args: () => ReadonlyArray<string> = () => []) => {
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in chrome) return
    browser = await chromium.launch({ executablePath: chrome.program, args: ["--no-sandbox", ...args()] })
  })
  afterAll(() => browser?.close())

  return async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    // Far above the time of a step, and below the limit of a test, so that the failure names the missing element.
    context.setDefaultTimeout(120_000)
    const page = await context.newPage()
    const complaints: Array<string> = []
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`))
    page.on("pageerror", (error) => complaints.push(error.message))
    return { page, complaints }
  }
}

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")

/** Returns the violated accessibility rules of a page, with their elements. `options` are those of axe. */
export const violations = async (page: Page, options: object = {}) => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE)
  return page.evaluate<Array<unknown>>(`
    axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))]))`)
}

/** Opens the collapsed parts of a page, also those of which only one is open. */
export const unfold = (page: Page) =>
  page.evaluate(`
    for (const folded of document.querySelectorAll("details")) {
      folded.removeAttribute("name")
      folded.setAttribute("open", "")
    }`)

/** Returns the number of pixels by which a page is wider than its screen. */
export const overhang = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - screen.width")
