import { sql } from "@outreach/testing/sql"
import { chrome } from "@outreach/testing/startBrowser"
import type { Locator } from "playwright-core"
import { describe, expect, it } from "vitest"
import { seedOrganization } from "../seedOrganization.ts"
import { startConsole } from "../startConsole.ts"
import { openBrowser, SCREENS } from "./openBrowser.ts"

const test = startConsole()
const open = openBrowser(test)

describe.skipIf("missing" in chrome)("the scripts of the pages", () => {
  it("show and accept times in the zone of the viewer, and send them in UTC", async () => {
    const { page, complaints } = await open("admin", { screen: { timezoneId: "America/New_York" } })
    await page.goto("/audit?from=2026-11-01T12:00:00Z")
    const from = page.getByLabel("From (America/New_York)")
    expect(await from.inputValue()).toBe("2026-11-01T07:00")
    // The night of the change from daylight saving time.
    await from.fill("2026-10-31T23:30")
    await page.getByRole("button", { name: "Filter" }).click()
    await page.waitForURL(/from=2026-11-01T03%3A30%3A00\.000Z/)
    expect(await from.inputValue()).toBe("2026-10-31T23:30")
    expect(complaints).toEqual([])
  })

  it("show all times of a page in UTC once the viewer switches to it", async () => {
    const { ids } = await test().run(seedOrganization("utc.test"))
    const { page } = await open("admin", { screen: { timezoneId: "Asia/Tokyo" } })
    await page.goto(`/deliveries?organization=${ids.organization}`)
    const time = page.locator("main td time").first()
    expect(await time.getAttribute("title")).toMatch(/^[-\d]+ [:\d]+ Asia\/Tokyo$/)
    const ticks = () => page.locator("svg [data-local=tick]").evaluateAll((all) => all.map((each) => each.textContent))
    const inUtc = await page
      .locator("svg [data-local=tick]")
      .evaluateAll((all) => all.map((each) => each.dataset["at"]))
    expect(inUtc.length).toBeGreaterThan(2)
    const shown = inUtc.map((at) => (at!.includes("T00:00") ? at!.slice(5, 10) : at!.slice(11, 16)))
    expect(await ticks()).not.toEqual(shown)
    await page.getByRole("button", { name: "Show UTC" }).click()
    await page.getByText("Times in UTC").waitFor()
    expect(await ticks()).toEqual(shown)
    await page.goto(`/inbox?organization=${ids.organization}&from=2026-11-01T12:00:00Z`)
    expect(await page.getByLabel("Received from (UTC)").inputValue()).toBe("2026-11-01T12:00")
    await page.getByRole("button", { name: "Show local times" }).click()
    await page.getByText("Times in Asia/Tokyo").waitFor()
  })

  it("focus the field of a form that is wrong, and send a form once on two clicks", async () => {
    const { ids } = await test().run(seedOrganization("acme.test"))
    const { page, complaints } = await open("admin")
    await page.goto(`/campaigns/${ids.campaign}`)
    const rate = page.getByLabel("E-mails per minute")
    await rate.fill("fast")
    await page.getByRole("button", { name: "Change the rate" }).click()
    await page.getByText("E-mails per minute is not valid").waitFor()
    expect(await rate.inputValue()).toBe("fast")
    expect(await rate.evaluate((input) => input === document.activeElement)).toBe(true)
    await rate.fill("60")
    await page.getByRole("button", { name: "Change the rate" }).dblclick()
    await page.getByRole("status").getByText("Saved.").waitFor()
    const changes = await test().run(
      sql`select from audit_log where command = 'campaigns update' and submission is not null`,
    )
    expect(changes).toHaveLength(1)
    // The browser reports the refusal as a fault of the page.
    expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([])
  })

  it("focus the search with one key on every page", async () => {
    const { page } = await open("viewer")
    await page.goto("/system")
    await page.keyboard.press("/")
    await page.keyboard.type("nothing of this name")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/find$/)
  })

  it("are not needed on a phone to open the menu, a row and the filters, with one tap each", async () => {
    await test().run(seedOrganization("phone.test"))
    const { page } = await open("viewer", { screen: { ...SCREENS["phone"], javaScriptEnabled: false } })
    await page.goto("/")
    let taps = 0
    const tap = async (target: Locator) => {
      taps += 1
      await target.click()
    }
    await tap(page.getByRole("button", { name: "Menu" }))
    await tap(page.getByRole("link", { name: "Campaigns", exact: true }))
    const row = page.getByRole("row", { name: /^Spring/ }).first()
    const window = row.locator("[data-label=Window]")
    expect(await window.isVisible()).toBe(false)
    await tap(row.getByLabel("All values"))
    await window.waitFor()
    await tap(page.getByText("Filters", { exact: true }))
    await page.getByLabel("Name contains").fill("spr")
    await tap(page.getByRole("button", { name: "Filter", exact: true }))
    await page.getByText("Filters (1)").waitFor()
    expect(taps).toBe(5)
  })

  it("are not needed to pause a campaign", async () => {
    const { ids } = await test().run(seedOrganization("plain.test"))
    const { page } = await open("operator", { organizationId: ids.organization, screen: { javaScriptEnabled: false } })
    await page.goto("/")
    await page.getByRole("heading", { level: 1, name: "Today" }).waitFor()
    await page.getByRole("link", { name: "Campaigns", exact: true }).click()
    await page.getByRole("link", { name: "Spring" }).click()
    await page.getByLabel("Reason").fill("the partner asked to wait")
    await page.getByRole("button", { name: "Pause", exact: true }).click()
    await page.getByRole("status").getByText("Paused").waitFor()
  })
})
