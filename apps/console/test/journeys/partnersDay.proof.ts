import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { chrome, overhang } from "@outreach/testing/startBrowser"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { describe, expect, it, onTestFinished } from "vitest"
import { startConsole } from "../startConsole.ts"
import { openBrowser, SCREENS, violations } from "./openBrowser.ts"
import { startWorker } from "./startWorker.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const open = openBrowser(test)

describe.skipIf("missing" in chrome)("a partner with a phone", () => {
  it("finds why webhooks failed, replays them, and issues a key", async () => {
    let isMended = false
    const receiver = await partner((_, response) =>
      isMended ? response.end() : response.writeHead(404).end("No such route: /webhooks"),
    )
    const { secret, organization } = await test().run(
      Effect.tap(seedCampaign({ recipients: 3, endpointUrl: receiver.url }), ({ campaign }) =>
        scheduleCampaign(campaign.id),
      ),
    )
    receiver.trust(secret)
    const mail = await mailServer()
    await startWorker(test().databaseUrl, mail.url, onTestFinished)
    // The batch of recipients and an event for each e-mail.
    await until(receiver, ({ received }) => received.length === 4)
    const { page, complaints } = await open("partner-admin", {
      organizationId: organization.id,
      screen: SCREENS["phone"]!,
    })
    const look = async () => {
      expect(await violations(page)).toEqual([])
      expect(await overhang(page)).toBeLessThanOrEqual(0)
    }

    await page.goto("/")
    await page.getByRole("heading", { level: 1, name: "Acme Health" }).waitFor()
    const cause = page.getByRole("row", { name: /No such route/ })
    // A closed card doesn't show it.
    const counted = cause.locator("[data-label='Dead letters']").filter({ hasText: /^4$/ })
    while ((await counted.count()) === 0) await page.reload()
    await look()
    await cause.getByRole("link", { name: /No such route/ }).click()
    await page.getByRole("heading", { level: 1, name: "404: No such route" }).waitFor()
    await look()

    isMended = true
    await page.getByRole("link", { name: "Replay 4" }).click()
    await page.getByRole("button", { name: "Replay all" }).click()
    await page.getByText("4 of 4").waitFor({ state: "attached" })
    await until(receiver, ({ received }) => received.length === 8)

    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("link", { name: "Overview" }).click()
    await page.getByLabel("Key name").fill("Nightly sync")
    await page.getByLabel("events:read").check()
    await page.getByRole("button", { name: "Issue a key" }).click()
    await page.getByText("This is shown only once.").waitFor()
    await look()
    const key = (await page.locator("main pre").first().textContent())!.trim()
    await page.getByRole("link", { name: "I have saved it" }).click()
    await page.getByRole("row", { name: /Nightly sync/ }).waitFor()
    expect(await page.content()).not.toContain(key)
    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.waitForURL("**/sign-in")
    expect(complaints).toEqual([])
  })
})

describe.skipIf("missing" in chrome)("a partner's admin", () => {
  it("adds an endpoint, tests it, creates its secret, and finds a delivery by the event's id, with nine clicks", async () => {
    const receiver = await partner()
    const { secret, organization } = await test().run(
      Effect.tap(seedCampaign({ recipients: 1, endpointUrl: receiver.url }), ({ campaign }) =>
        scheduleCampaign(campaign.id),
      ),
    )
    receiver.trust(secret)
    await startWorker(test().databaseUrl, (await mailServer()).url, onTestFinished)
    await until(receiver, ({ received }) => received.length === 2)
    const { page, complaints } = await open("partner-admin", { organizationId: organization.id })
    let clicks = 0
    const click = async (target: Locator) => {
      clicks += 1
      await target.click()
    }
    const button = (name: string) => page.getByRole("button", { name, exact: true })

    await page.goto("/")
    await click(page.getByText("Add an endpoint", { exact: true }))
    await page.locator("input[name=url]").fill(receiver.url)
    await click(button("Add the endpoint"))
    await page.getByText("Added.").waitFor()
    await click(button("Send a test event"))
    await page.getByText("Accepted", { exact: true }).waitFor()
    expect(receiver.received).toHaveLength(3)
    await click(page.getByRole("link", { name: "Back to the endpoint" }))
    await click(page.getByRole("link", { name: "Secrets" }))
    await click(button("Create a separate secret"))
    await page.getByText("This is shown only once.").waitFor()
    await click(page.getByRole("link", { name: "I have saved it" }))
    await page.getByRole("heading", { name: "Separate signing secrets" }).waitFor()

    const [{ event, deliveryId } = receiver.received[0]!] = receiver.received.filter(({ event }) =>
      event.event_type.endsWith("email_sent"),
    )
    await page.getByRole("searchbox", { name: "Search" }).fill(event.event_id)
    clicks += 1
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Event outreach.email_sent" }).waitFor()
    await click(page.locator(`main a[href="/deliveries/${deliveryId}"]`))
    await page.getByText("the endpoint returned 200").waitFor()
    expect(await violations(page)).toEqual([])
    expect([clicks, complaints]).toEqual([9, []])
  })
})
