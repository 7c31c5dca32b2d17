import { readFileSync } from "node:fs"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { OperatorRole } from "@outreach/domain/operators/Operator"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import type { TestConsole } from "../startConsole.ts"

/** The path of Chromium, or the reason why it is missing. */
export const chrome = findInstalled("chromium")

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")

const DESKTOP = { viewport: { width: 1440, height: 900 } }
const TABLET = { viewport: { width: 1024, height: 768 } }
/** The narrowest screen of WCAG 2.2, 1.4.10. */
const PHONE = { viewport: { width: 320, height: 690 }, isMobile: true, hasTouch: true }

/** The screens for the checks of all pages. */
export const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: DESKTOP,
  tablet: TABLET,
  phone: PHONE,
}

/** A page of an operator, with its faults: requests to other hosts, errors and violations of the content policy. */
export interface Opened {
  readonly page: Page
  readonly complaints: ReadonlyArray<string>
}

/** Starts Chromium for a file's tests. Returns a function that opens a page for a signed-in operator until the end of the test. */
export const openBrowser = (test: () => TestConsole) => {
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in chrome) return
    browser = await chromium.launch({ executablePath: chrome.program, args: ["--no-sandbox"] })
  })
  afterAll(() => browser?.close())

  return async (
    role: OperatorRole,
    options: { readonly screen?: BrowserContextOptions; readonly organizationId?: OrganizationId } = {},
  ): Promise<Opened> => {
    const { url, as } = test()
    const { cookie } = await as(role, options.organizationId)
    const context = await browser.newContext({ ...(options.screen ?? DESKTOP), baseURL: url })
    onTestFinished(() => context.close())
    // Far above the time of a step, and below the limit of a test, so that the failure names the missing element.
    context.setDefaultTimeout(120_000)
    const [name = "", value = ""] = cookie.split("=")
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    const complaints: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith(`${url}/`)) complaints.push(`request: ${request.url()}`)
    })
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(error.message))
    return { page, complaints }
  }
}

/** Returns the violated accessibility rules with their elements, also of collapsed parts. `rules` limits the check. Default: all rules. */
export const violations = async (page: Page, rules?: ReadonlyArray<string>) => {
  await page.locator("details").evaluateAll((all) => {
    for (const folded of all) folded.setAttribute("open", "")
  })
  await page.evaluate(AXE)
  return page.evaluate(async (only) => {
    const { violations } = await (globalThis as never as AxeGlobal).axe.run(
      only === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: only },
    )
    return violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))])
  }, rules)
}

/** Returns the number of pixels by which a page is wider than its screen. */
export const overhang = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - screen.width")

interface AxeGlobal {
  readonly axe: {
    readonly run: (options: {
      readonly runOnly?: ReadonlyArray<string>
      readonly rules?: Readonly<Record<string, { readonly enabled: boolean }>>
    }) => Promise<{
      readonly violations: ReadonlyArray<{
        readonly id: string
        readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string> }>
      }>
    }>
  }
}
