import { chrome, overhang, startBrowser, unfold, violations } from "@outreach/testing/startBrowser"
import { Struct } from "effect"
import type { BrowserContextOptions } from "playwright-core"
import { describe, expect, it } from "vitest"
import { PAGES, pathOf } from "../../src/docs/layout.ts"
import { startApi } from "../startApi.ts"

// A name, because the port is unknown until the API listens: the browser maps it.
const BASE = "http://api.outreach.test"
const PATHS = Struct.keys(PAGES).map(pathOf)
const WITH_SEARCH = [...PATHS, "/docs/search?q=dead+letter", "/docs/search?q=xqzj"]
const DESKTOP = { viewport: { width: 1280, height: 900 } }
const PHONE = { viewport: { width: 375, height: 740 }, isMobile: true, hasTouch: true }
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  "a desktop": DESKTOP,
  "a dark desktop": { ...DESKTOP, colorScheme: "dark" },
  "a phone": PHONE,
  "a dark phone": { ...PHONE, colorScheme: "dark" },
}

describe.skipIf("missing" in chrome)("in a browser", () => {
  const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })
  const open = startBrowser(() => {
    const rules = `MAP api.outreach.test:80 127.0.0.1:${new URL(api().url).port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`
    return [`--host-resolver-rules=${rules}`]
  })

  /** Opens a page and waits until it is complete. Records its requests and console messages. */
  const show = async (path: string, screen: BrowserContextOptions = DESKTOP, base = BASE) => {
    const { page, complaints } = await open(screen)
    const requests: Array<string> = []
    page.on("request", (request) => requests.push(request.url()))
    await page.goto(base + path)
    return { page, requests, complaints }
  }

  describe.each(Object.entries(SCREENS))("on %s", (_name, screen) => {
    it.each(WITH_SEARCH)(
      "shows %s with no error, foreign request or scrolling sideways, and by the rules of accessibility",
      async (path) => {
        const { page, requests, complaints } = await show(path, screen)
        expect(await page.locator("pre").count()).toBe(await page.getByText("Copy", { exact: true }).count())
        expect(requests.filter((url) => !url.startsWith(`${BASE}/`))).toEqual([])
        expect(complaints).toEqual([])

        await unfold(page)
        expect(await overhang(page)).toBeLessThanOrEqual(0)
        expect(await violations(page)).toEqual([])
      },
    )
  })

  it.each(WITH_SEARCH)(
    "the Tab key reaches everything on %s that can be followed, folded or scrolled, in its order and visibly",
    async (path) => {
      const { page } = await show(path)
      const stops = await page.evaluate<number>(
        `(stops = [...document.querySelectorAll("a[href], summary, input, button, [tabindex='0']")].filter((one) => one.checkVisibility())).length`,
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

      // The first link skips to the content.
      await page.reload()
      for (const key of ["Tab", "Enter", "Tab"]) await page.keyboard.press(key)
      expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true)
    },
  )

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

  it("a key that the console hands over is filled into the commands of the tab, and reaches no server and no history", async () => {
    const key = `orp_live_${"a1B2".repeat(7)}c3_d4E5f6`
    const { page, requests, complaints } = await show(`/docs#key=${key}`)
    const filled = page.locator("pre", { hasText: `export OUTREACH_KEY=${key}` })
    await filled.first().waitFor()
    expect(page.url()).toBe(`${BASE}/docs`)
    await page.getByRole("link", { name: "Requests with curl" }).first().click()
    await page.getByRole("group", { name: "Variables" }).getByText(`export OUTREACH_KEY=${key}`).waitFor()
    await page.goBack()
    await filled.first().waitFor()
    expect(page.url()).toBe(`${BASE}/docs`)
    expect(requests.filter((url) => url.includes("orp_"))).toEqual([])
    expect(complaints).toEqual([])

    const other = await show("/docs/curl")
    await other.page.locator("button").first().waitFor({ state: "attached" })
    expect(await other.page.content()).not.toContain(key)
    expect(await other.page.locator("pre", { hasText: "orp_test_…" }).count()).toBe(1)
  })

  it.each([
    "key=orp_live_<b>x</b>aaaaaaaaaaaaaaaaaaa",
    `key=orp_live_${"a".repeat(500)}`,
    "key=hunter2",
    `key=orp_test_${"a".repeat(30)}$(id)`,
  ])("a fragment that is not a key fills in nothing: %s", async (fragment) => {
    const { page } = await show(`/docs/curl#${fragment}`)
    await page.locator("button").first().waitFor({ state: "attached" })
    expect(await page.getByRole("group", { name: "Variables" }).textContent()).toContain("OUTREACH_KEY=orp_test_…\n")
    expect(await page.evaluate("sessionStorage.getItem('key')")).toBeNull()
  })

  it("a language stays chosen for every later page, and is not closed by another click", async () => {
    const { page, complaints } = await show("/docs/webhooks")
    await page.locator(".languages summary", { hasText: "Go" }).click()
    await page.locator(".languages summary", { hasText: "Go" }).click()
    const openOn = async (path: string) => {
      await page.goto(BASE + path)
      await page.locator("button").first().waitFor({ state: "attached" })
      return page.locator(".languages details[open] summary").allTextContents()
    }
    // A page without the language shows its first one, and doesn't change the choice.
    expect(await openOn("/docs/pagination")).toEqual(["TypeScript"])
    expect(await openOn("/docs/webhooks")).toEqual(["Go"])
    await page.locator(".languages summary", { hasText: "Python" }).click()
    expect(await openOn("/docs/pagination")).toEqual(["Python"])
    expect(complaints).toEqual([])
  })

  it.each([
    ["with a clipboard", true],
    ["without TLS, where a page has no clipboard", false],
  ])("code is copied as it stands, by a button that a key reaches and that says so: %s", async (_, isSecure) => {
    const { page, complaints } = await show("/docs/webhooks", DESKTOP, isSecure ? api().url : BASE)
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    const code = page.getByRole("group", { name: "verifySignature.ts" })
    const button = page.getByRole("button", { name: "Copy verifySignature.ts" })
    const opacity = () =>
      page.evaluate("getComputedStyle(document.querySelector('[aria-label^=verifySignature] + button')).opacity")
    expect(await opacity()).toBe("0")
    await code.focus()
    await page.keyboard.press("Tab")
    expect(await opacity()).toBe("1")
    await page.keyboard.press("Enter")
    await page.getByRole("status").getByText("Copied").waitFor({ state: "attached" })
    expect(await page.locator("button:focus").textContent()).toBe("Copied")

    await page.evaluate("document.body.append(document.createElement('textarea'))")
    await page.locator("textarea").focus()
    await page.keyboard.press("Control+V")
    expect(await page.locator("textarea").inputValue()).toBe(await code.textContent())
    await button.waitFor()
    expect(complaints).toEqual([])
  })

  describe.each(Object.entries(SCREENS).slice(1, 3))("without scripts on %s", (_name, screen) => {
    it.each(PATHS)("%s works except for the buttons, and fits the screen", async (path) => {
      const { page, complaints } = await show(path, { ...screen, javaScriptEnabled: false })
      expect(await page.getByRole("navigation", { name: "Documentation" }).getByRole("link").count()).toBe(PATHS.length)
      const outline = page.getByRole("navigation", { name: "On this page" })
      if (screen.viewport!.width < 1000) await outline.locator("summary").click()
      await outline.getByRole("link").last().click()
      expect(new URL(page.url()).hash).not.toBe("")
      if (path === "/docs/webhooks") {
        await page.locator(".languages summary", { hasText: "Python" }).press("Enter")
        expect(await page.getByLabel("verify_signature.py").isVisible()).toBe(true)
        expect(await page.getByLabel("verifySignature.ts").isVisible()).toBe(false)
      }
      expect(await overhang(page)).toBeLessThanOrEqual(0)
      await page.getByRole("searchbox", { name: "Search" }).fill("webhok")
      await page.keyboard.press("Enter")
      await page.getByRole("main").getByRole("link").first().click()
      expect(new URL(page.url()).pathname).toBe("/docs/webhooks")
      expect(complaints).toEqual([])
    })
  })
})
