import { receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser, overhang, SCREENS, violations } from "./openBrowser.ts"

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

/** Gives the page something to show: samples of a day, dead letters, a refusing domain and a quota. */
const seedDay = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { organization, campaign, program } = yield* seedDeadLetters(120)
  yield* sql`
    insert into gauge_samples
    select '', date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes', (1 + sin(n / 20.0)) * 900, greatest(0, n - 250), n / 100,
      greatest(0, 120 - n), n % 7 / 5, n / 140
    from generate_series(0, 287) n`
  yield* sql`
    insert into domain_pauses (organization_id, campaign_id, domain, status, until)
    values (${organization.id}, ${campaign.id}, 'clinic.test', '5.7.1', now() + interval '40 minutes')`
  yield* sql`update programs set completer_target = 500 where id = ${program.id}`
  yield* sql`
    insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
      account_created_total, learner_qualified_total, completer_qualified_total)
    select ${organization.id}, ${program.id}, current_date - n, 0, 0, 0, 0, 0, 430 - n * 11 from generate_series(0, 29) n`
})

describe.skipIf(skip)("the page of today in a browser", () => {
  beforeAll(() => test().run(seedDay))

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

  it.each(Object.keys(SCREENS))(
    "breaks no rule of accessibility on %s, nor is it wider, and nor is System",
    async (screen) => {
      const { page, complaints } = await open("admin", { screen: SCREENS[screen]! })
      for (const path of ["/", "/system"]) {
        await page.goto(path)
        if (process.env["SCREENSHOTS"]) {
          const file = `${process.env["SCREENSHOTS"]}/${path.slice(1) || "today"}-${screen.replaceAll(" ", "-")}.png`
          await page.screenshot({ path: file, fullPage: true })
        }
        expect(await violations(page), path).toEqual([])
        expect(await overhang(page), path).toBeLessThanOrEqual(0)
      }
      expect(complaints).toEqual([])
    },
  )
})
