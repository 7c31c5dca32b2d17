import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { chrome } from "@outreach/testing/startBrowser"
import type { Locator } from "playwright-core"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { startMailServer } from "../startMailServer.ts"
import { openBrowser } from "./openBrowser.ts"

const mail = startMailServer()
const test = startConsole(mail.settings)
const open = openBrowser(test)

const list = `npi,email\n${[1, 2].map((n) => `${npi(n)},${email(n)}`).join("\n")}\n`

describe.skipIf("missing" in chrome)("a draft", () => {
  it("gets from nothing to scheduled in eleven clicks, each on the page's main button or a form", async () => {
    const { program } = await test().run(seedCampaign({ recipients: 0 }))
    const { page, complaints } = await open("operator")
    const main = page.locator("main")
    let clicks = 0
    const click = async (target: Locator) => {
      clicks += 1
      await target.click()
    }
    const clickMain = async (label: string) => {
      await main
        .locator(".primary")
        .getByText(label)
        .or(main.locator(".primary", { hasText: label }))
        .first()
        .waitFor()
      await click(main.locator(".primary", { hasText: label }))
    }
    await page.goto(`/campaigns?program=${program.id}`)
    const form = main.locator("form[action='/campaigns/new']")
    await click(main.getByText("Create a campaign"))
    await form.locator("[name=name]").fill("Autumn")
    await form.locator("[name=subject]").fill("An invitation")
    await form.locator("[name=html]").fill("<p>Begin at https://l.test/{{ token }}</p>")
    await form.locator("[name=window-start]").fill("2099-03-01T09:00")
    await form.locator("[name=window-end]").fill("2099-03-02T09:00")
    await clickMain("Create the draft")
    await clickMain("Import recipients")
    await main
      .locator("input[type=file]")
      .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(list) })
    await click(main.getByRole("button", { name: "Upload and check" }))
    await click(main.getByRole("button", { name: "Import 2 recipients" }))
    await click(main.getByRole("link", { name: "Autumn" }).first())

    await click(main.getByRole("link", { name: "Edit the campaign" }).first())
    const history = await page.evaluate(() => globalThis.history.length)
    const preview = page.frameLocator("iframe[name=preview]")
    await main.locator("[name=subject]").fill("News for you")
    await preview.getByText("News for you").waitFor()
    await main.locator("[name=html]").fill("<p>Typed {{ nobody }}</p>")
    await preview.getByText("The html is not a valid template: it names nobody").waitFor()
    await main.locator("[name=html]").fill("<p>Typed {{ token }}</p>")
    await preview.getByText("Typed aB3dE9").waitFor()
    expect(await page.evaluate(() => globalThis.history.length)).toBe(history)
    await clickMain("Save")

    await main.getByLabel("Your e-mail address").fill("me@acme.example")
    await clickMain("Send a test")
    await clickMain("Schedule…")
    await clickMain("Schedule")
    await page.getByRole("status").getByText("Scheduled").waitFor()
    expect(clicks).toBe(11)
    expect(mail.server().messages.map(({ to }) => to)).toEqual([["me@acme.example"]])
    expect(complaints).toEqual([])
  })

  it("is previewed by a button without scripts", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0 }))
    const { page } = await open("operator", { screen: { javaScriptEnabled: false } })
    await page.goto(`/campaigns/${campaign.id}/edit`)
    const preview = page.frameLocator("iframe[name=preview]")
    await preview.getByText("Your link: https://l.test/aB3dE9").waitFor()
    await page.locator("[name=subject]").fill("News for you")
    await page.getByRole("button", { name: "Preview as text" }).click()
    await preview.getByText("Subject: News for you").waitFor()
    expect(await page.locator("[name=subject]").inputValue()).toBe("News for you")
  })
})
