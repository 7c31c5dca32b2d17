import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits } from "@outreach/domain/hits/Hits"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser, overhang, SCREENS, violations } from "./openBrowser.ts"

const test = startConsole()
const open = openBrowser(test)

/** Seeds a clinician who was deferred, sent to, looked at by a bot, and came back. */
const seed = Effect.gen(function* () {
  yield* cancelCampaigns
  const sql = yield* SqlClient.SqlClient
  const { organization, campaign } = yield* seedCampaign({ recipients: 1 })
  yield* sendCampaign(campaign.id)
  const { settle } = yield* Settlements
  const [first] = yield* claimMessages(1)
  const full = { outcome: "deferred", reply: "452 4.2.2 The mailbox is full" } as const
  yield* settle(first!, { state: "retry", attempts: 1, delaySeconds: 0 }, full)
  for (const lease of yield* claimMessages(1)) yield* settleSent(lease)
  const [recipient] = yield* sql<{ id: RecipientId }>`select id from recipients where campaign_id = ${campaign.id}`
  const { id } = recipient!
  const hit = { id: yield* createIdentifier("hit"), organizationId: organization.id, recipientId: id, link: null }
  const request = { method: "HEAD", address: "192.0.2.1", headers: {}, cameAt: yield* Clock.currentTimeMillis }
  yield* (yield* HitRepository).record([{ ...hit, ...request }])
  yield* judgeHits(organization.id)
  yield* reportBounce(id, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 The mailbox is disabled" })
  return { organizationId: organization.id, id }
})

const find = async (page: Page, term: string) => {
  await page.goto("/find")
  await page.getByLabel("Find anything").fill(term)
  await page.keyboard.press("Enter")
  await page.locator("h1", { hasText: /found|Clinician/ }).waitFor()
}

describe.skipIf("missing" in chrome)("a clinician in a browser", () => {
  it("is found, looked at, suppressed and erased, and nothing personal stands in an address", async () => {
    const { organizationId } = await test().run(seed)
    const { page, complaints } = await open("admin", { organizationId })
    const addresses: Array<string> = []
    page.on("framenavigated", (frame) => addresses.push(frame.url()))
    await find(page, email(0))
    await page.getByRole("heading", { name: `Clinician ${maskNpi(npi(0))}` }).waitFor()
    for (const words of ["deferred: 452 4.2.2", "bot suspected: head", "mailbox_disabled: 550 5.2.1"]) {
      await page.getByRole("cell", { name: words }).waitFor()
    }
    expect(await page.content()).not.toContain(npi(0))
    await page.getByRole("button", { name: "Show NPI and addresses" }).click()
    await page.getByText(email(0)).first().waitFor()

    await find(page, npi(0))
    const suppress = page.locator("form", { has: page.getByRole("button", { name: "Suppress", exact: true }) })
    await suppress.getByLabel("Reason").fill("asked by phone")
    await suppress.getByRole("button").click()
    await page.getByRole("status").getByText("Suppressed: 1 new entries").waitFor()

    await page.getByRole("link", { name: "Erase" }).click()
    await page.getByRole("cell", { name: "message_attempts" }).waitFor()
    await page.getByLabel(`Type ${npi(0).slice(-4)}`).fill(npi(0).slice(-4))
    await page.getByRole("button", { name: "Erase for good" }).click()
    await page.getByRole("heading", { name: "The clinician is erased" }).waitFor()
    for (const term of [npi(0), email(0)]) {
      await find(page, term)
      await page.getByRole("heading", { name: "Nothing was found" }).waitFor()
    }
    for (const personal of [npi(0), email(0), encodeURIComponent(email(0))]) {
      expect(addresses.join(" ")).not.toContain(personal)
    }
    expect(complaints).toEqual([])
  })

  it.each(Object.keys(SCREENS))("breaks no rule of accessibility on %s, nor is it wider", async (screen) => {
    const { organizationId, id } = await test().run(seed)
    const { page, complaints } = await open("admin", { screen: SCREENS[screen]!, organizationId })
    const check = async (name: string) => {
      if (process.env["SCREENSHOTS"]) {
        const file = `${process.env["SCREENSHOTS"]}/${name}-${screen.replaceAll(" ", "-")}.png`
        await page.screenshot({ path: file, fullPage: true })
      }
      expect(await violations(page), name).toEqual([])
      expect(await overhang(page), name).toBeLessThanOrEqual(0)
    }
    for (const path of ["/find", `/people/${id}`, "/suppressions"]) {
      await page.goto(path)
      await check(path.split("/")[1]!)
    }
    await page.goto("/suppressions")
    await page.getByRole("button", { name: "Show NPIs" }).click()
    await check("suppressions-shown")
    await find(page, npi(99))
    await check("nobody")
    await page.goto(`/people/${id}`)
    await page.getByRole("link", { name: "Erase" }).click()
    await check("erase")
    await page.goto("/audit")
    await check("audit")
    expect(complaints).toEqual([])
  })
})
