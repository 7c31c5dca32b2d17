import { createHash } from "node:crypto"
import { Effect, Exit, Scope } from "effect"
import { createTransport } from "nodemailer"
import { expect, it, onTestFinished } from "vitest"
import { startMailCatcher } from "../src/startMailCatcher.ts"

/** Starts a mail catcher until the test is finished, and sends one message to it. */
const catchOne = async (html: string) => {
  const scope = await Effect.runPromise(Scope.make())
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const catcher = startMailCatcher({
    host: "127.0.0.1",
    hasMailbox: (address) => !address.startsWith("nobody@"),
    onCaught: () => {},
  })
  const { url, smtpUrl } = await Effect.runPromise(Scope.provide(catcher, scope))
  const transport = createTransport({ url: smtpUrl })
  onTestFinished(() => transport.close())
  await transport.sendMail({
    envelope: { from: "bounce-1@sandbox.test", to: "dana@clinic.test" },
    from: "Acme <outreach@sandbox.test>",
    to: "dana@clinic.test",
    subject: "An <b>invitation</b> – Einladung",
    text: "Good morning",
    html,
  })
  return { url, transport }
}

it("shows a message as a mail program does: with its images and links, and without its scripts", async () => {
  const html = `<p>Good morning</p><img src="http://127.0.0.1:1/pixel"><script>alert()</script>`
  const { url } = await catchOne(html)
  const open = async (path: string) => {
    const response = await fetch(new URL(path, url), { headers: { Accept: "text/html" } })
    return { text: await response.text(), policy: response.headers.get("content-security-policy")! }
  }
  const list = await open("/")
  expect(list.text).toContain('<a href="/message/1">An &#60;b&#62;invitation&#60;/b&#62; – Einladung</a>')
  const page = await open("/message/1")
  for (const part of ["bounce-1@sandbox.test", "<pre>Good morning", '<iframe src="/message/1/html"']) {
    expect(page.text).toContain(part)
  }
  for (const { text, policy } of [list, page]) {
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(text)!
    expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`)
  }
  const message = await open("/message/1/html")
  expect(message.text).toContain(html)
  expect(message.policy).toMatch(/default-src 'none';.* img-src http: https: data:; sandbox allow-popups /)
  expect(message.policy).not.toMatch(/script/)
})

it("returns JSON to a client that doesn't request a page", async () => {
  const { url } = await catchOne("<p>Good morning</p>")
  expect(await (await fetch(url)).json()).toMatchObject({ count: 1, messages: [{ to: ["dana@clinic.test"] }] })
  expect((await fetch(`${url}message/7`)).status).toBe(404)
})

it("rejects an unknown mailbox permanently, with its code", async () => {
  const { transport, url } = await catchOne("<p>Good morning</p>")
  const sent = transport.sendMail({ from: "acme@sandbox.test", to: "nobody@clinic.test", text: "Good morning" })
  await expect(sent).rejects.toMatchObject({ responseCode: 550, response: expect.stringContaining("5.1.1") })
  expect(await (await fetch(url)).json()).toMatchObject({ count: 1 })
})
