import { receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser } from "./openBrowser.ts"

const test = startConsole()
const open = openBrowser(test)
const skip = "missing" in chrome

/** Gives an organization an inbound event that could not be applied. */
const quarantineOne = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 0 })
  yield* receiveEvent(seeded, `evt_${seeded.organization.id}`, "clinician.moved", {})
  yield* sql`
    update inbox set quarantined_at = clock_timestamp(), reason = 'no reason' where organization_id = ${seeded.organization.id}`
})

describe.skipIf(skip)("the page of today in a browser", () => {
  it("renews its tiles and their tones while it is looked at, and comes back when its stream is cut", async () => {
    const { page, complaints } = await open("viewer")
    await page.goto("/")
    const tile = page.locator(".tile", { hasText: "Quarantined inbound events" })
    await page.locator(".tile.good", { hasText: "Quarantined inbound events" }).waitFor()
    expect(await tile.locator(".value").textContent()).toBe("0")
    await test().run(quarantineOne)
    await page.locator(".tile.warning .value", { hasText: /^1$/ }).waitFor()
    expect(complaints).toEqual([])

    await page.context().setOffline(true)
    await test().run(quarantineOne)
    await page.context().setOffline(false)
    await page.locator(".tile.warning .value", { hasText: /^2$/ }).waitFor()
  })
})
