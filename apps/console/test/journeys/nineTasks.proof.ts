import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedWaiting } from "@outreach/testing/seedWaiting"
import { sql } from "@outreach/testing/sql"
import { chrome } from "@outreach/testing/startBrowser"
import { eventually, until } from "@outreach/testing/until"
import { Effect, Redacted } from "effect"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { openBrowser } from "./openBrowser.ts"
import { startWorker } from "./startWorker.ts"

const REPLY = "550 5.1.1 No such mailbox"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const open = openBrowser(test)
const ends: Array<() => Promise<void>> = []
const atEnd = (end: () => Promise<void>) => ends.push(end)
afterAll(() => Promise.all(ends.map((end) => end())))

let mail: Awaited<ReturnType<typeof mailServer>>
let receiver: Awaited<ReturnType<typeof partner>>
let isMended = false
let ours: Effect.Success<ReturnType<typeof seed>>

/** A campaign that bounces at one domain and is sent to a partner who returns 404; a draft; a paused campaign; and a key. */
const seed = Effect.fnUntraced(function* () {
  const seeded = yield* seedCampaign({ recipients: 3, endpointUrl: receiver.url })
  const { organization, campaign } = seeded
  const bouncing = { number: 9, npi: npi(70), email: email(70, "university.test") }
  yield* importLines(campaign.id, [bouncing])
  yield* sql`update campaigns set name = 'Spring mailing' where id = ${campaign.id}`
  const draft = yield* seedCampaign({ recipients: 2, opensIn: 1800 })
  yield* sql`update campaigns set name = 'Autumn mailing' where id = ${draft.campaign.id}`
  const paused = yield* seedCampaign({ recipients: 2, opensIn: 1800 })
  yield* sql`update campaigns set name = 'Winter mailing' where id = ${paused.campaign.id}`
  yield* scheduleCampaign(paused.campaign.id)
  yield* commandCampaign(paused.campaign.id, "pause", { stoppedBy: "Dana Reyes", stopReason: "the link is wrong" })
  yield* scheduleCampaign(campaign.id)
  const key = yield* issueKey({
    organizationId: organization.id,
    name: "Sync",
    scopes: ["events:read"],
    expiresAt: null,
  })
  return { ...seeded, draft: draft.campaign, key }
})

beforeAll(async () => {
  if ("missing" in chrome) return
  mail = await mailServer({ atEnd })
  mail.replies.set("university.test", REPLY)
  receiver = await partner(
    (_, response) => (isMended ? response.end() : response.writeHead(404).end("No such route: /webhooks")),
    atEnd,
  )
  ours = await test().run(seed())
  receiver.trust(ours.secret)
  await startWorker(test().databaseUrl, mail.url, atEnd)
  // The batch of recipients, three e-mails and the bounce.
  await until(receiver, ({ received }) => received.length === 5)
  // The worker records the outcomes of its calls in the background.
  await eventually(
    () => test().run(sql`select from dead_letters`),
    (rows) => rows.length === 5,
  )
})

/** Opens the console for an operator, and counts clicks and searches. */
const walk = async () => {
  const { page, complaints } = await open("admin")
  await page.goto("/")
  let clicks = 0
  const main = page.locator("main")
  return {
    page,
    main,
    complaints,
    clicks: () => clicks,
    click: async (target: Locator) => {
      clicks += 1
      await target.click()
    },
    find: async (term: string) => {
      clicks += 1
      await page.keyboard.press("/")
      await page.keyboard.type(term)
      await page.keyboard.press("Enter")
    },
    says: (words: string | RegExp) => main.getByText(words).first().waitFor(),
  }
}

const button = (within: Locator | Page, name: string) => within.getByRole("button", { name, exact: true })

describe.skipIf("missing" in chrome)("an operator finds out without an engineer", () => {
  it("why a clinician, or a campaign, gets no mail, and which endpoint knows it", async () => {
    const { click, find, main, says, clicks, complaints, page } = await walk()
    await find(email(70, "university.test"))
    await says(/The e-mail bounced at .*: 550 5\.1\.1 No such mailbox/)
    await says("sends e-mails to the clinician: their address bounced.")
    expect(clicks()).toBeLessThanOrEqual(3)
    expect(new URL(page.url()).pathname).toMatch(/^\/people\/rcp_/)
    await click(main.locator(`a[href="/endpoints/${ours.endpoint.id}"]`).first())
    await page.getByRole("heading", { level: 1, name: receiver.url }).waitFor()
    expect(clicks()).toBe(2)
    await page.goto("/")
    await find("Winter mailing")
    await says("the link is wrong")
    expect(complaints).toEqual([])
  })

  it("which domain bounces, and why", async () => {
    const { click, page, says, clicks } = await walk()
    await click(page.getByRole("link", { name: "Numbers" }))
    const row = page.getByRole("row", { name: /university\.test/ }).first()
    await row.getByText("No such mailbox").first().waitFor()
    await says("university.test")
    expect(clicks()).toBeLessThanOrEqual(2)
  })

  it("the numbers of today and of yesterday", async () => {
    const { click, page, says, clicks } = await walk()
    await click(page.getByRole("link", { name: "Numbers" }))
    await page.getByRole("row", { name: /^Total .*[1-9]/ }).waitFor()
    const [yesterday = ""] = new Date(Date.now() - 86_400_000).toISOString().split("T")
    await click(page.getByRole("link", { name: "Yesterday" }))
    await says(`${yesterday}, by program`)
    expect(clicks()).toBe(2)
  })

  it("who paused a campaign, and why", async () => {
    const { find, says, clicks } = await walk()
    await find("Winter mailing")
    await says(/Paused by Dana Reyes at .*: the link is wrong/)
    expect(clicks()).toBe(1)
  })

  it("why a webhook never arrived", async () => {
    const [event] = await test().run(sql<{ id: string }>`
      select id from events where organization_id = ${ours.organization.id} and type = 'outreach.email_bounced'`)
    const { find, says, click, main, clicks, page } = await walk()
    await find(event!.id)
    await page.getByRole("heading", { level: 1 }).waitFor()
    if (!page.url().includes("/deliveries/")) await click(main.locator("a[href^='/deliveries/dlv_']").first())
    await says(/Not delivered, without further retries\. The partner responds with 404: No such route/)
    expect(clicks()).toBeLessThanOrEqual(2)
  })

  it("why an endpoint fails, and resends the missed events", async () => {
    const { click, says, main, page, clicks } = await walk()
    await click(main.getByRole("link", { name: /No such route/ }).first())
    await page.getByRole("heading", { level: 1, name: "404: No such route" }).waitFor()
    isMended = true
    await click(main.getByRole("link", { name: "Replay 5" }))
    await says(/5 dead letters/)
    await click(button(main, "Replay all"))
    await page.getByRole("status").waitFor()
    expect(clicks()).toBeLessThanOrEqual(4)
    await until(receiver, ({ received }) => received.length === 10)
  })

  it("whether an endpoint with another address and a key works, and sends its waiting deliveries", async () => {
    const mended = await partner((_, response) => response.end(), atEnd)
    const { endpoint, secret, ids } = await test().run(seedWaiting(12))
    mended.trust(secret)
    const { find, click, main, page, says, clicks, complaints } = await walk()
    await find(endpoint.id)
    await click(page.getByRole("link", { name: "Settings" }))
    await main.getByLabel("Address").fill(mended.url)
    await main.locator("textarea[name=headers]").fill("X-Api-Key: 123")
    await click(button(main, "Change"))
    await page.getByRole("status").getByText("Saved.").waitFor()
    await says("X-Api-Key")
    await click(button(main, "Send a test event"))
    await says("12 deliveries are waiting for a later attempt.")
    await click(button(main, "Send them now"))
    await page.getByRole("status").getByText("sends 12 waiting deliveries").waitFor()
    expect(clicks()).toBe(5)
    const arrived = () => new Set(mended.received.map(({ deliveryId }) => deliveryId))
    await until(mended, () => ids.every((id) => arrived().has(id)))
    await says(/Waiting for the next attempt\s*0/)
    expect(complaints).toEqual([])
  })

  it("how a campaign is launched safely, and stopped", async () => {
    const { find, click, main, page, says, clicks } = await walk()
    await find("Autumn mailing")
    await click(main.getByRole("link", { name: "Schedule…" }))
    await says("2 of 2 recipients")
    await says(/0 failed/)
    await click(button(main, "Schedule"))
    await page.getByRole("status").getByText("Scheduled").waitFor()
    await says(/No e-mails are being sent\. Its window starts at/)
    await main.locator("form[action$='/pause']").getByLabel("Reason").fill("the partner asked to wait")
    await click(button(main, "Pause"))
    await says(/Paused by admin .*: the partner asked to wait/)
    expect(clicks()).toBeLessThanOrEqual(4)
  })

  it("how a leaked key is ended", async () => {
    const { find, click, main, page, says, clicks } = await walk()
    await find(Redacted.value(ours.key.text))
    await says("Requests with it return 401.")
    expect(page.url()).not.toContain(Redacted.value(ours.key.text))
    await main.getByLabel("Type").first().fill("Sync")
    await click(button(main, "Revoke now"))
    await page.getByRole("status").getByText("Revoked “Sync”").waitFor()
    expect(clicks()).toBeLessThanOrEqual(2)
  })

  it("who has an address of which a part is known, and the oldest events", async () => {
    const { find, click, main, page, clicks, complaints } = await walk()
    await find("ian70@univ")
    await page.getByRole("heading", { level: 1, name: /^Clinician/ }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/people\/rcp_/)
    expect(clicks()).toBe(1)
    await click(page.locator("nav.sections").getByRole("link", { name: "Events", exact: true }))
    await click(main.getByRole("columnheader", { name: "Emitted" }).getByRole("link"))
    await main.locator("th[aria-sort=ascending]").waitFor()
    await main.locator("tbody tr").first().getByText("outreach.recipients_published").waitFor()
    await click(main.getByRole("link", { name: "Last 24 hours" }))
    await page.waitForURL("**/events?sort=emitted-at-asc&from=-24h")
    expect(await main.getByLabel(/^Emitted from/).inputValue()).toBe("-24h")
    await main.locator("tbody tr").first().getByText("outreach.recipients_published").waitFor()
    expect(clicks()).toBe(4)
    expect(complaints).toEqual([])
  })

  it("how a clinician is erased, and where the certificate is", async () => {
    const { find, click, main, page, says, clicks } = await walk()
    const addresses: Array<string> = []
    page.on("framenavigated", (frame) => addresses.push(decodeURIComponent(frame.url())))
    await find(email(70, "university.test"))
    await says("university.test")
    await click(
      main
        .getByRole("button", { name: /^Erase/ })
        .or(main.getByRole("link", { name: /^Erase/ }))
        .first(),
    )
    await says("This can't be undone.")
    await main.getByLabel("Type").first().fill(npi(70).slice(-4))
    await click(button(main, "Erase permanently"))
    await page.getByRole("status").getByText("Erased: ").waitFor()
    for (const personal of [npi(70), email(70, "university.test")]) expect(addresses.join()).not.toContain(personal)
    expect(clicks()).toBeLessThanOrEqual(4)
    await click(page.locator("nav.sections").getByRole("link", { name: "Audit", exact: true }))
    await click(main.getByRole("link", { name: "Certificate" }).first())
    await page.getByRole("heading", { level: 1, name: "Certificate of an erasure" }).waitFor()
    await says("backups and WAL archives")
    expect(clicks()).toBeLessThanOrEqual(6)
    const content = await page.content()
    for (const personal of [npi(70), email(70, "university.test")]) expect(content).not.toContain(personal)
    await page.emulateMedia({ media: "print" })
    for (const part of ["nav.sections", "header", "aside"]) {
      expect(await page.locator(part).first().isVisible()).toBe(false)
    }
    await says("backups and WAL archives")
  })
})
