import { chrome } from "@outreach/testing/startBrowser"
import type { Locator } from "playwright-core"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"
import { openBrowser, violations } from "./openBrowser.ts"

const test = startConsole()
const open = openBrowser(test)

describe.skipIf("missing" in chrome)("an admin with an empty database", () => {
  it("gets to the first campaign by the button of the next step, with three clicks for each", async () => {
    const { page, complaints } = await open("admin")
    const main = page.locator("main")
    let clicks = 0
    const click = async (target: Locator) => {
      clicks += 1
      await target.click()
    }
    /** Opens the next step from Today, fills its form in and submits it. */
    const step = async (name: string, values: Readonly<Record<string, string>>) => {
      await click(page.getByRole("link", { name: "Today", exact: true }))
      const next = main.locator("#steps a.primary")
      expect(await next.textContent()).toBe(name)
      await click(next)
      const form = main.locator("form", { has: page.getByRole("button", { name, exact: true }) })
      for (const [field, value] of Object.entries(values)) await form.locator(`[name="${field}"]`).fill(value)
      if (name === "Issue a key") await click(form.getByLabel("events:read"))
      await click(form.getByRole("button", { name, exact: true }))
    }

    await page.goto("/")
    expect(await violations(page)).toEqual([])
    await step("Add the organization", { name: "Acme Health" })
    await page.getByRole("heading", { level: 1, name: "Acme Health" }).waitFor()
    await step("Issue a key", { name: "Nightly sync" })
    await main.getByText("This is shown only once.").waitFor()
    await step("Add the endpoint", { url: "https://partner.example/webhooks" })
    await page.getByRole("heading", { level: 1, name: "https://partner.example/webhooks" }).waitFor()
    await step("Add the program", {
      slug: "heart-failure",
      name: "Heart failure",
      "sender-name": "Acme Health",
      "postal-address": "1 Main Street, Springfield, IL 62701",
    })
    await page.getByRole("heading", { level: 1, name: "Heart failure" }).waitFor()
    await step("Add the sender", { from: "Acme Health <outreach@acme.example>" })
    await main.getByText("The sender isn't used yet.").first().waitFor()
    await step("Create the draft", {
      name: "Spring",
      subject: "An invitation",
      html: "<p>Begin at https://l.test/{{ token }}</p>",
      "window-start": "2099-03-01T09:00:00",
      "window-end": "2099-03-02T09:00:00",
    })
    await page.getByRole("heading", { level: 1, name: "Spring" }).waitFor()
    // A scope of the key is one more.
    expect(clicks).toBe(6 * 3 + 1)

    await page.getByRole("link", { name: "Today", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: "Today" }).waitFor()
    expect(await main.locator("#steps").count()).toBe(0)
    expect(complaints).toEqual([])
  })
})
