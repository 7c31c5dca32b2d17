import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser, overhang, SCREENS, violations } from "./openBrowser.ts"
import { startProcess } from "./startProcess.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const open = openBrowser(test)
const ends: Array<() => Promise<void>> = []
const atEnd = (end: () => Promise<void>) => ends.push(end)
afterAll(() => Promise.all(ends.map((end) => end())))

beforeAll(async () => {
  if ("missing" in chrome) return
  const mail = await mailServer(undefined, undefined, atEnd)
  await startProcess("worker", test().databaseUrl, { SMTP_URL: mail.url, WEBHOOK_RETRY_DELAYS: "0s" }, atEnd)
})

describe.skipIf("missing" in chrome)("the partner's day", () => {
  it.each(Object.entries(SCREENS))(
    "finds on a %s why webhooks failed, mends it, has them sent again, and takes a new key",
    async (_, screen) => {
      let isMended = false
      const receiver = await partner((_, response) =>
        isMended ? response.end() : response.writeHead(404).end("No such route: /webhooks"),
      )
      const { secret, organization } = await test().run(
        Effect.gen(function* () {
          const seeded = yield* seedCampaign({ recipients: 3, endpointUrl: receiver.url })
          yield* scheduleCampaign(seeded.campaign.id)
          return seeded
        }),
      )
      receiver.trust(secret)
      // The batch of recipients and an event for each e-mail.
      await eventually(
        () => receiver.received.length,
        (count) => count === 4,
      )
      const { page, complaints } = await open("partner", { organizationId: organization.id, screen })
      const look = async () => {
        expect(await violations(page)).toEqual([])
        expect(await overhang(page)).toBeLessThanOrEqual(0)
      }

      await page.goto("/")
      await page.getByRole("heading", { level: 1, name: "Acme Health" }).waitFor()
      const cause = page.getByRole("row", { name: /No such route/ })
      for (
        let isCounted = false;
        !isCounted;
        isCounted = (await cause.getByRole("cell", { name: /^(Dead letters )?4$/ }).count()) > 0
      )
        await page.reload()
      await look()
      await cause.getByRole("link", { name: /No such route/ }).click()
      await page.getByRole("heading", { level: 1, name: "404: No such route" }).waitFor()
      await look()

      isMended = true
      await page.getByRole("link", { name: "Replay 4" }).click()
      await page.getByRole("button", { name: "Replay 4" }).click()
      await page.getByText("No dead letter waits to be replayed.").waitFor()
      await eventually(
        () => receiver.received.length,
        (count) => count === 8,
      )

      const menu = page.getByRole("button", { name: "Menu" })
      if (await menu.isVisible()) await menu.click()
      await page.getByRole("link", { name: "Overview" }).click()
      await page.getByLabel("What the key is for").fill("Nightly sync")
      await page.getByLabel("events:read").check()
      await page.getByRole("button", { name: "Issue a key" }).click()
      await page.getByText("This is shown once.").waitFor()
      await look()
      const key = (await page.locator("main pre").first().textContent())!.trim()
      const documents = page.getByRole("link", { name: "Open the documents with this key filled in" })
      expect(await documents.getAttribute("href")).toBe(`http://127.0.0.1:8080/docs#key=${key}`)
      await page.getByRole("link", { name: "I have kept it" }).click()
      await page.getByRole("row", { name: /Nightly sync/ }).waitFor()
      expect(await page.content()).not.toContain(key)
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.waitForURL("**/sign-in")
      expect(complaints).toEqual([])
    },
  )
})
