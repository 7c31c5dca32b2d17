import { chrome, overhang, startBrowser, unfold, violations } from "@outreach/testing/startBrowser"
import { Struct } from "effect"
import type { BrowserContextOptions, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { PAGES, pathOf } from "../../src/docs/layout.ts"
import { KEY_PLACEHOLDER } from "../../src/docs/requestSamples.ts"
import { startApi } from "../startApi.ts"

// A name, because the port is unknown until the API listens: the browser maps it.
const BASE = "http://api.outreach.test"
const PATHS = Struct.keys(PAGES).map(pathOf)
const WITH_SEARCH = [...PATHS, "/docs/search?q=dead+letter", "/docs/search?q=xqzj"]
/** All pages with code. */
const GUIDES = PATHS.filter((path) => path !== "/docs/changelog")
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

  const KEY = `orp_live_${"a1B2".repeat(7)}c3_d4E5f6`
  const keyInput = (page: Page) => page.getByLabel("Your API key")
  /** Counts the placeholders, and the samples with the key. */
  const filled = (page: Page) =>
    Promise.all([KEY_PLACEHOLDER, KEY].map((text) => page.locator("pre", { hasText: text }).count()))

  it("a key that the console hands over is in every sample and in what is copied, only in this tab, until it is cleared", async () => {
    const { page, requests, complaints } = await show(`/docs#key=${KEY}`, DESKTOP, api().url)
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    await page.locator("pre", { hasText: KEY }).first().waitFor()
    expect(page.url()).toBe(`${api().url}/docs`)
    await page.getByRole("link", { name: "Reference", exact: true }).first().click()
    await page.getByRole("button", { name: "Copy listTokens.sh" }).click()
    await page.getByRole("status").getByText("Copied").waitFor({ state: "attached" })
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain(`Bearer ${KEY}'`)
    const [open, samples] = await filled(page)
    expect(open).toBe(0)
    await page.getByRole("button", { name: "Clear" }).click()
    expect(await filled(page)).toEqual([samples, 0])
    expect(await page.evaluate("JSON.stringify([sessionStorage, localStorage, document.cookie])")).not.toContain("orp_")
    await keyInput(page).fill(KEY)
    expect(await filled(page)).toEqual([0, samples])
    await page.goBack()
    expect(page.url()).toBe(`${api().url}/docs`)
    expect(requests.filter((url) => url.includes("orp_"))).toEqual([])
    expect(complaints).toEqual([])

    const other = await show("/docs/curl")
    await keyInput(other.page).waitFor()
    expect(await other.page.content()).not.toContain(KEY)
  })

  it.each([
    "orp_live_<b>x</b>aaaaaaaaaaaaaaaaaaa",
    `orp_live_${"a".repeat(500)}`,
    "hunter2",
    `orp_test_${"a".repeat(30)}$(id)`,
  ])("text that is not a key fills in nothing, entered or in a fragment: %s", async (text) => {
    const { page } = await show(`/docs/curl#key=${text}`)
    await keyInput(page).waitFor()
    expect(await keyInput(page).inputValue()).toBe("")
    const empty = await filled(page)
    await keyInput(page).fill(text)
    expect(await filled(page)).toEqual(empty)
    expect(await page.evaluate("[document.querySelector('.key input').validity.valid, sessionStorage.length]")).toEqual(
      [false, 0],
    )
  })

  it("a language and a framework stay chosen for every later page, and are not closed by another click", async () => {
    const { page, complaints } = await show("/docs/webhooks")
    for (const name of ["Go", "Go", "Fastify"]) await page.locator(".tabs summary", { hasText: name }).press("Enter")
    const openOn = async (path: string) => {
      await page.goto(BASE + path)
      await page.locator("button").first().waitFor({ state: "attached" })
      return [...new Set(await page.locator(".tabs details[open] summary").allTextContents())]
    }
    // A group without the language shows its first one, and doesn't change the choice.
    expect(await openOn("/docs/pagination")).toEqual(["Go", "TypeScript"])
    expect(await openOn("/docs/webhooks")).toEqual(["Fastify", "Go"])
    expect(await openOn("/docs/reference")).toEqual(["Go"])
    // The choice opens a tab of each group, and the chosen one stays where it is.
    const tab = page.locator(".tabs summary", { hasText: "Python" }).last()
    await tab.scrollIntoViewIfNeeded()
    const { y } = (await tab.boundingBox())!
    await tab.click()
    expect(Math.abs((await tab.boundingBox())!.y - y)).toBeLessThan(2)
    expect(await openOn("/docs/pagination")).toEqual(["Python"])
    expect(complaints).toEqual([])
  })

  it.each(GUIDES)("%s shows code on its first screen", async (path) => {
    for (const screen of [
      { viewport: { width: 1440, height: 900 } },
      { ...PHONE, viewport: { width: 390, height: 844 } },
    ]) {
      const { page } = await show(path, screen)
      await page.locator("button").first().waitFor({ state: "attached" })
      const { y } = (await page.locator("pre").first().boundingBox())!
      expect(y + 40).toBeLessThan(screen.viewport.height)
    }
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
        await page.locator(".tabs summary", { hasText: "Python" }).press("Enter")
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
