import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser } from "./openBrowser.ts"
import { startProcess } from "./startProcess.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const open = openBrowser(test)
const ends: Array<() => Promise<void>> = []
const atEnd = (end: () => Promise<void>) => ends.push(end)
afterAll(() => Promise.all(ends.map((end) => end())))

let mail: Awaited<ReturnType<typeof mailServer>>
beforeAll(async () => {
  if ("missing" in chrome) return
  mail = await mailServer(undefined, undefined, atEnd)
  await startProcess("worker", test().databaseUrl, { SMTP_URL: mail.url, WEBHOOK_RETRY_DELAYS: "0s" }, atEnd)
})

/** Seeds a campaign for a partner and schedules it, so that the worker sends it. */
const launch = (endpointUrl: string, recipients: number, opensIn = 0) =>
  test().run(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients, endpointUrl, opensIn })
      yield* scheduleCampaign(seeded.campaign.id)
      return seeded
    }),
  )

const main = (page: Page) => page.locator("main")
const notice = (page: Page, words: string) => page.getByRole("status").getByText(words).waitFor()

describe.skipIf("missing" in chrome)("the operator's day", () => {
  it("finds a failing partner, sees the cause, fixes the endpoint, replays the group and watches it go to zero", async () => {
    const wrong = await partner((_, response) => response.writeHead(404).end("No such route: /webhooks"))
    const right = await partner()
    const { secret, organization } = await launch(wrong.url, 3)
    for (const each of [wrong, right]) each.trust(secret)
    const { page, complaints } = await open("admin", { organizationId: organization.id })

    // The batch of recipients and an event for each e-mail; Today counts them while it is looked at.
    await page.goto("/")
    await page.locator(".tile.warning", { hasText: "Dead letters" }).getByText(/^4$/).click()
    await page.getByRole("row", { name: /No such route/ }).waitFor()
    expect(await page.getByRole("row", { name: /No such route/ }).textContent()).toContain("404")
    await page.getByRole("link", { name: /No such route/ }).click()
    await page.getByRole("heading", { level: 1, name: "404: No such route" }).waitFor()

    await main(page)
      .locator("dd")
      .getByRole("link", { name: new URL(wrong.url).host })
      .click()
    await page.getByLabel("Address").fill(right.url)
    await page.getByRole("button", { name: "Change" }).click()
    await notice(page, "Changed.")
    await page.getByRole("link", { name: /No such route/ }).click()
    await page.getByRole("link", { name: "Replay 4" }).click()
    await main(page).getByText("4 dead letters, each from attempt 1").waitFor()
    await page.getByRole("button", { name: "Replay 4" }).click()

    await notice(page, "4 dead letters will be replayed")
    const address = page.url()
    await main(page).getByText("No dead letter waits to be replayed.").waitFor()
    await page
      .getByRole("row", { name: /4 of 4/ })
      .getByText("finished")
      .waitFor()
    expect(page.url()).toBe(address)
    await eventually(
      () => right.received.length,
      (count) => count === 4,
    )
    await page.goto("/")
    await page.locator(".tile.good", { hasText: "Dead letters" }).getByText(/^0$/).waitFor()
    expect(complaints).toEqual([])
  })

  it("rotates a secret, and sees that the partner still signs with the old one", async () => {
    const { organization, endpoint, secret } = await test().run(seedCampaign({ recipients: 0 }))
    const [old] = await test().run(
      Effect.flatMap(SigningSecretRepository, ({ list }) => list({ organizationId: organization.id })),
    )
    const api = await startProcess("api", test().databaseUrl)
    const { page, complaints } = await open("admin")
    await page.goto(`/partners/${organization.id}`)
    await page.getByRole("button", { name: "Rotate secret" }).click()
    const shown = await page.locator("main pre code", { hasText: "whsec_" }).textContent()
    expect(shown).not.toBe(Redacted.value(secret))

    const webhook = await signWebhook(sampleEvent("clinician.account_created"), [Redacted.value(secret)])
    const to = `${api}/v1/partners/consumer/webhooks/${endpoint.id}`
    expect((await fetch(to, { method: "POST", ...webhook })).status).toBe(200)
    await page.getByRole("link", { name: "I have kept it" }).click()
    // The API writes the uses of secrets a moment later.
    await eventually(
      async () => {
        await page.reload()
        return (await main(page).textContent()) ?? ""
      },
      (words) => words.includes(`The partner still signs with the old secret ${old!.id}, last at`),
    )
    expect(await page.content()).not.toContain(shown)
    expect(complaints).toEqual([])
  })

  it("narrows the deliveries to a range of time, with the mouse on the histogram and with the keyboard", async () => {
    const { organization } = await test().run(seedDeaths)
    const { page, complaints } = await open("viewer", { organizationId: organization.id })
    const rows = page.getByRole("region", { name: "Deliveries", exact: true }).locator("tbody tr")
    await page.goto("/deliveries?state=dead")
    await rows.nth(4).waitFor()

    const box = (await page.locator(".canvas:not(.small) svg").boundingBox())!
    const [middle, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(middle - box.width / 8, y)
    await page.mouse.down()
    await page.mouse.move(middle, y, { steps: 4 })
    await page.mouse.move(middle + box.width / 8, y, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=.+&to=/)
    await rows.first().waitFor()
    expect(await rows.count()).toBe(2)
    const range = new URL(page.url()).searchParams

    await page.goto("/deliveries?state=dead")
    const [from, to] = ["from", "to"].map((name) => range.get(name)!.slice(0, 19))
    await page.getByLabel("From (UTC)").fill(from!)
    await page.getByLabel("Before (UTC)").fill(to!)
    await page.keyboard.press("Enter")
    await page.waitForURL(/from=.+&to=/)
    await rows.first().waitFor()
    expect(await rows.count()).toBe(2)
    expect(complaints).toEqual([])
  })

  it("reads Today and pauses a campaign without scripts", async () => {
    const receiver = await partner()
    const { secret, campaign, organization } = await launch(receiver.url, 1, 1800)
    receiver.trust(secret)
    const { page } = await open("operator", { organizationId: organization.id, screen: { javaScriptEnabled: false } })
    await page.goto("/")
    await page.getByRole("heading", { level: 1, name: "Today" }).waitFor()
    await page.getByRole("link", { name: "Campaigns", exact: true }).click()
    await page.getByRole("link", { name: campaign.name }).click()
    await page.getByLabel("E-mails a minute").fill("60")
    await page.getByRole("button", { name: "Change the rate" }).click()
    await page.getByRole("status").waitFor()
    await page.getByLabel("Reason").fill("the partner asked to wait")
    await page.getByRole("button", { name: "Pause" }).click()
    await notice(page, "Paused")
  })
})

/** Five dead letters, of which two died half a day ago. */
const seedDeaths = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedDeadLetters(5)
  const dead = yield* sql<Pick<DeliverySummary, "id">>`
    select id from dead_letters where endpoint_id = ${seeded.endpoint.id} order by id limit 2`
  yield* sql`
    update dead_letters set finished_at = finished_at - interval '12 hours' where id = any (${dead.map(({ id }) => id)}::text[])`
  yield* sql`
    insert into delivery_outcomes (organization_id, endpoint_id, at, client_errors, dead_letters)
    values (${seeded.organization.id}, ${seeded.endpoint.id}, date_bin('5 minutes', now() - interval '12 hours', 'epoch'), 2, 2)`
  return seeded
})
