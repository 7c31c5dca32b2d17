import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { startMailServer } from "../startMailServer.ts"
import { chrome, openBrowser } from "./openBrowser.ts"
import { startProcess } from "./startProcess.ts"

const REPLY = "550 5.7.1 Message from [192.0.2.7] blocked, see https://refusing.test/why"
// Before the console starts, which reads a file of it.
const mail = startMailServer()
const test = startConsole(mail.settings)
beforeAll(() => {
  mail.server().replies.set("refusing.test", REPLY)
})
const open = openBrowser(test)
const skip = "missing" in chrome

/** Seeds a draft with recipients of two domains, of which one refuses us, and two subjects. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({
    recipients: 4,
    fields: ["first_name"],
    fieldsOf: () => ({ first_name: "Dana" }),
    subjectTest: { subjectB: "Another subject", share: 100, afterSeconds: null },
  })
  const refused = { number: 2, npi: npi(70), email: email(70, "refusing.test"), fields: { first_name: "Robin" } }
  yield* importLines(seeded.campaign.id, [refused])
  return seeded
})

/** Lets the time pass for which a campaign leaves a domain alone. */
const endPause = (campaignId: CampaignId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update domain_pauses set until = clock_timestamp() where campaign_id = ${campaignId}`
    yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaignId}`
    for (const table of ["campaign_turns", "organization_turns"]) {
      yield* sql`update ${sql(table)} set next_at = clock_timestamp()`
    }
  })

const main = (page: Page) => page.locator("main")

/** Loads the page again until it shows some words. */
const reloadUntil = async (page: Page, words: string) => {
  while (!(await main(page).textContent())?.includes(words)) await page.reload()
}

describe.skipIf(skip)("a campaign in a browser", () => {
  it("is launched once its preflight is mended, paused, tested and resumed, and shows which domain refuses us", async () => {
    const { campaign, endpoint } = await test().run(seed)
    await test().run(Effect.flatMap(EndpointRepository, ({ disable }) => disable(endpoint.id)))
    await startProcess("worker", test().databaseUrl, { SMTP_URL: mail.server().url })
    const { page, complaints } = await open("admin")
    await page.goto("/campaigns")
    await page.getByRole("link", { name: campaign.name }).first().click()
    const check = page.getByRole("row", { name: /^endpoint/ })
    await check.getByText("No webhook endpoint is enabled; 1 disabled.").waitFor()
    await check.getByRole("link", { name: "endpoint" }).click()
    await main(page).getByRole("link", { name: "https://partner.test/webhooks", exact: true }).click()
    await page.getByRole("link", { name: "Enable" }).click()
    await page.getByRole("button", { name: "Enable" }).click()
    await page.getByRole("status").getByText("Enabled").waitFor()
    await page.goto(`/campaigns/${campaign.id}`)
    await page.locator("summary", { hasText: "What is in order" }).click()
    await check.getByText("1 endpoint enabled").waitFor()
    await main(page).getByText("0 wrong").waitFor()
    await page.getByRole("link", { name: "Schedule" }).click()
    await main(page).getByText("5 of 5 recipients").waitFor()
    await page.getByRole("button", { name: "Schedule" }).click()
    await page.getByRole("status").getByText("Scheduled").waitFor()

    await reloadUntil(page, "A domain refuses us: refusing.test")
    await reloadUntil(page, "4 sent, 0 bounced")
    const row = page.getByRole("row", { name: /^refusing\.test/ })
    expect(await row.textContent()).toContain("5.7.1")
    expect(await row.textContent()).not.toContain(email(70, "refusing.test"))

    await page.getByLabel("Reason").fill("a domain refuses us")
    await page.getByRole("button", { name: "Pause" }).click()
    await page.getByRole("status").getByText("Paused").waitFor()
    const before = mail.server().messages.length
    await page.getByLabel("Your own address").fill("me@acme.test")
    await page.getByRole("button", { name: "Send a test" }).click()
    await page.getByRole("status").getByText("Test message sent").waitFor()
    expect(
      mail
        .server()
        .messages.slice(before)
        .map(({ to }) => to),
    ).toEqual([["me@acme.test"]])
    await page.getByRole("link", { name: "Resume" }).click()
    await main(page).getByText("1 of 5 recipients").waitFor()
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByRole("status").getByText("Resumed").waitFor()

    mail.server().replies.clear()
    await test().run(endPause(campaign.id))
    await reloadUntil(page, "5 sent, 0 bounced")

    await page.getByRole("link", { name: "Look at the e-mail" }).click()
    await page.getByRole("link", { name: "c•••@clinic.test" }).first().click()
    await page.getByRole("link", { name: "On a phone" }).click()
    await page.frameLocator("iframe").getByText("Your link").waitFor()
    expect(complaints).toEqual([])
  })
})
