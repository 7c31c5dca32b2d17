import { findInstalled } from "@outreach/debian-packages/findProgram"
import { type Browser, chromium } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { catchOne } from "./catchOne.ts"

const installed = findInstalled("chromium")

describe.skipIf("missing" in installed)("caught mail in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    if ("missing" in installed) return
    browser = await chromium.launch({ executablePath: installed.program, args: ["--no-sandbox"] })
  })
  afterAll(() => browser?.close())

  it("is listed, and shown as a mail program shows it: with its images, and without its scripts", async () => {
    const { url } = await catchOne(
      `<p id="said">Good morning</p><img src="http://127.0.0.1:1/pixel"><script>said.textContent = "changed"</script><a href="https://partner.test/x">Take part</a>`,
    )
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
    onTestFinished(() => page.close())
    const requested: Array<string> = []
    page.on("request", (request) => requested.push(request.url()))
    const consoleMessages: Array<string> = []
    page.on("console", (message) => consoleMessages.push(message.text()))
    const alignment = () => page.evaluate("getComputedStyle(document.querySelector('th')).textAlign")
    await page.goto(url)
    expect([await alignment(), consoleMessages]).toEqual(["left", []])
    expect(await page.locator("h1").textContent()).toBe("Mail catcher")
    expect(await page.locator("tbody tr").count()).toBe(1)
    await page.getByRole("link", { name: "An <b>invitation</b> – Einladung" }).click()
    expect(await alignment()).toBe("left")
    const message = page.frameLocator("iframe")
    expect(await message.locator("#said").textContent()).toBe("Good morning")
    await expect.poll(() => requested).toContain("http://127.0.0.1:1/pixel")
    expect(await page.locator("table").textContent()).toContain("bounce-1@sandbox.test")
    expect(await page.locator("pre").first().textContent()).toContain("Good morning")
    const [opened] = await Promise.all([page.waitForEvent("popup"), message.getByText("Take part").click()])
    await expect.poll(() => opened.url()).toMatch(/^(https:\/\/partner\.test\/x|chrome-error:)/)
  })
})
