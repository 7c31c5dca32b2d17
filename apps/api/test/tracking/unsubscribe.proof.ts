import { sql } from "@outreach/testing/sql"
import { chrome, overhang, startBrowser, violations } from "@outreach/testing/startBrowser"
import type { BrowserContextOptions } from "playwright-core"
import { describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const api = startApi()
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  "a desktop": { viewport: { width: 1280, height: 900 } },
  "a dark phone": { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true, colorScheme: "dark" },
}

describe.skipIf("missing" in chrome)("in a browser", () => {
  const open = startBrowser()
  it.each(Object.entries(SCREENS))(
    "on %s, a press of each button unsubscribes, and every page is accessible",
    async (_, screen) => {
      const seeded = await api().run(seedMessages(1))
      const asked = sql`select from unsubscriptions where organization_id = ${seeded.organization.id}`
      const { page, complaints } = await open(screen)
      const check = async (title: string) => {
        await page.getByRole("heading", { name: title }).waitFor()
        expect(await page.title()).toBe(title)
        expect(await overhang(page)).toBeLessThanOrEqual(0)
        expect(await violations(page)).toEqual([])
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
