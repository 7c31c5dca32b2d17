import { existsSync } from "node:fs"
import { Deferred, Effect } from "effect"
import { createTransport } from "nodemailer"
import { type Browser, chromium } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { startMailCatcher } from "../src/startMailCatcher.ts"

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
const executablePath = PLACES.find((place) => existsSync(place))
if (executablePath === undefined) {
  process.stderr.write(`Skipped: caught mail in a browser, because there is none of ${PLACES.join(", ")}.\n`)
}

/** Starts a mail catcher that has caught one message. */
const catchOne = async (html: string) => {
  const started = Deferred.makeUnsafe<Effect.Success<typeof startMailCatcher>>()
  const stop = new AbortController()
  const over = Effect.runPromiseExit(
    Effect.scoped(
      Effect.flatMap(startMailCatcher, (catcher) => Effect.andThen(Deferred.succeed(started, catcher), Effect.never)),
    ),
    { signal: stop.signal },
  )
  onTestFinished(async () => {
    stop.abort()
    await over
  })
  const { url, smtpUrl } = await Effect.runPromise(Deferred.await(started))
  const transport = createTransport({ url: smtpUrl })
  await transport.sendMail({
    envelope: { from: "bounce-1@sandbox.test", to: "dana@clinic.test" },
    from: "Acme <outreach@sandbox.test>",
    to: "dana@clinic.test",
    subject: "An <b>invitation</b> – Einladung",
    text: "Good morning",
    html,
  })
  transport.close()
  return url
}

describe.skipIf(executablePath === undefined)("caught mail in a browser", { timeout: 60_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] })
  }, 60_000)
  afterAll(() => browser?.close())

  it("is listed, and shown as a mail program shows it: with its images, and without its scripts", async () => {
    const url = await catchOne(
      `<p id="said">Good morning</p><img src="http://127.0.0.1:1/pixel"><script>said.textContent = "changed"</script><a href="https://partner.test/x">Take part</a>`,
    )
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
    onTestFinished(() => page.close())
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    await page.goto(url)
    expect(await page.locator("h1").textContent()).toBe("Caught mail")
    expect(await page.locator("tbody tr").count()).toBe(1)
    await page.getByRole("link", { name: "An <b>invitation</b> – Einladung" }).click()
    const message = page.frameLocator("iframe")
    expect(await message.locator("#said").textContent()).toBe("Good morning")
    await expect.poll(() => asked).toContain("http://127.0.0.1:1/pixel")
    expect(await page.locator("table").textContent()).toContain("bounce-1@sandbox.test")
    expect(await page.locator("pre").first().textContent()).toContain("Good morning")
    const [opened] = await Promise.all([page.waitForEvent("popup"), message.getByText("Take part").click()])
    await expect.poll(() => opened.url()).toMatch(/^(https:\/\/partner\.test\/x|chrome-error:)/)
  })

  it("is JSON to whoever asks for no page", async () => {
    const url = await catchOne("<p>Good morning</p>")
    expect(await (await fetch(url)).json()).toMatchObject({ count: 1, messages: [{ to: ["dana@clinic.test"] }] })
    expect((await fetch(`${url}message/7`)).status).toBe(404)
  })
})
