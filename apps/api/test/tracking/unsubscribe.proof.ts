import { readFileSync } from "node:fs"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { sql } from "@outreach/testing/sql"
import { type Browser, type BrowserContextOptions, chromium } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const api = startApi()
const chrome = findInstalled("chromium")
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  "a desktop": { viewport: { width: 1280, height: 900 } },
  "a dark phone": { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true, colorScheme: "dark" },
}

describe.skipIf("missing" in chrome)("in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in chrome) return
    browser = await chromium.launch({ executablePath: chrome.program, args: ["--no-sandbox"] })
  })
  afterAll(() => browser?.close())

  it.each(Object.entries(SCREENS))(
    "on %s, a press of each button unsubscribes, and every page is accessible",
    async (_, screen) => {
      const seeded = await api().run(seedMessages(1))
      const asked = sql`select from unsubscriptions where organization_id = ${seeded.organization.id}`
      const context = await browser.newContext(screen)
      onTestFinished(() => context.close())
      context.setDefaultTimeout(0)
      const page = await context.newPage()
      const complaints: Array<string> = []
      page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`))
      page.on("pageerror", (error) => complaints.push(error.message))
      const check = async (title: string) => {
        await page.getByRole("heading", { name: title }).waitFor()
        expect(await page.title()).toBe(title)
        expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
        await page.evaluate(AXE)
        const { violations } = await page.evaluate<{ violations: ReadonlyArray<{ id: string }> }>("axe.run()")
        expect(violations.map(({ id }) => id)).toEqual([])
      }

      await page.goto(api().url + links.unsubscribe(seeded.addressees[0]!))
      await check("Unsubscribe?")
      await page.getByRole("button", { name: "Only e-mails about Heart failure" }).click()
      await check("You are unsubscribed")
      await page.getByRole("button", { name: "Everything from Acme Health" }).click()
      await page.getByText("no more e-mails from Acme Health").waitFor()
      await check("You are unsubscribed")
      expect(complaints).toEqual([])
      expect(await api().run(asked)).toHaveLength(1)
      await page.goto(`${api().url}/l/nonsense`)
      await check("This link is not valid")
    },
  )
})
