import { readFileSync } from "node:fs"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { type Browser, chromium } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { composedMails } from "./composedMails.ts"

const installed = findInstalled("chromium")
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")

describe.skipIf("missing" in installed)("in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in installed) return
    browser = await chromium.launch({ executablePath: installed.program, args: ["--no-sandbox"] })
  })
  afterAll(() => browser?.close())

  const screens = composedMails.flatMap(([name, mail]) =>
    [375, 1280].flatMap((width) => (["light", "dark"] as const).map((colors) => [name, width, colors, mail] as const)),
  )
  it.each(screens)("%s fits %d px, and its %s colours are legible", async (_, width, colorScheme, { html }) => {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme })
    onTestFinished(() => page.close())
    // Only the pixel is requested.
    await page.route("**", (route) => route.abort())
    await page.setContent(html, { waitUntil: "commit" })
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
    await page.evaluate(AXE)
    const { violations } = await page.evaluate<{ violations: ReadonlyArray<{ id: string }> }>(
      `axe.run({ runOnly: ["wcag2a", "wcag2aa"] })`,
    )
    expect(violations.map(({ id }) => id)).toEqual([])
  })
})
