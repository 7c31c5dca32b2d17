import { generateKeyPairSync } from "node:crypto"
import { createServer as createTcpServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Mailer, type MailOutcome } from "@outreach/domain/outreach/Mailer"
import { Clock, Effect, Redacted } from "effect"
import { authenticate } from "mailauth"
import { type DkimOptions, SmtpMailer } from "../src/SmtpMailer.ts"
import { listen } from "./listen.ts"
import { mailServer } from "./mailServer.ts"

const send = (
  url: string,
  options: {
    readonly to?: string
    readonly html?: string
    readonly callMs?: number
    readonly dkim?: DkimOptions
    /** How many milliseconds are left to begin; default 60,000. */
    readonly leftMs?: number
  } = {},
) =>
  Effect.gen(function* () {
    const mailer = yield* Mailer
    const mail = {
      to: options.to ?? "clinician@clinic.test",
      subject: "An invitation – Einladung",
      html:
        options.html ?? `<p>Your link: <a href="https://l.test/aB3dE9">open</a><img src="https://l.test/pixel"></p>`,
      text: "Your link: open [https://l.test/aB3dE9]",
      messageId: "<rcp_1@acme.test>",
      returnPath: "bounce-1@bounces.acme.test",
      unsubscribeUrl: "https://outreach.test/unsubscribe/1",
    }
    return yield* mailer.send(mail, (yield* Clock.currentTimeNanos) + BigInt(options.leftMs ?? 60_000) * 1_000_000n)
  }).pipe(
    Effect.provide(
      SmtpMailer({
        url: Redacted.make(url),
        from: { name: "Acme Outreach", address: "outreach@acme.test" },
        ...(options.callMs === undefined ? {} : { callMs: options.callMs }),
        ...(options.dkim && { dkim: options.dkim }),
      }),
    ),
    Effect.runPromise,
  )

const bounced = (reason: string) => ({ _tag: "Bounced", reason }) as MailOutcome
const deferred: MailOutcome = { _tag: "Deferred" }
const refused: MailOutcome = { _tag: "Refused", status: expect.stringMatching(/^5\d\d 5\.\d+\.\d+$/) }
const unreachable: MailOutcome = { _tag: "Unreachable" }
const unwilling = (status: string): MailOutcome => ({ _tag: "Unreachable", status })

describe("a message that the server takes", () => {
  it("is accepted, and carries the sender, the Message-ID, the HTML and a text alternative", async () => {
    const server = await mailServer()
    expect(await send(server.url)).toEqual({ _tag: "Accepted" })
    const [message] = server.messages
    expect(message).toMatchObject({ from: "bounce-1@bounces.acme.test", to: ["clinician@clinic.test"] })
    expect(message?.text).toContain("From: Acme Outreach <outreach@acme.test>")
    expect(message?.text).toContain("To: clinician@clinic.test")
    expect(message?.text).toContain("Message-ID: <rcp_1@acme.test>")
    expect(message?.text).toContain("multipart/alternative")
    expect(message?.text).toContain("Your link: open [https://l.test/aB3dE9]")
    expect(message?.text).not.toContain("[https://l.test/pixel]")
    expect(message?.text).toMatch(/Content-Type: text\/html/)
  })

  it("is not begun when that could outlast its lease", async () => {
    const server = await mailServer()
    expect(await send(server.url, { leftMs: -1 })).toEqual({ _tag: "Late" })
    expect(server.messages).toEqual([])
  })

  it("goes to one mailbox, though the address reads like a list", async () => {
    const server = await mailServer()
    expect(await send(server.url, { to: "a@clinic.test, b@clinic.test" })).toEqual(bounced("address_invalid"))
    expect(server.messages).toEqual([])
  })

  it("never reads a file or a page that its HTML names", async () => {
    const server = await mailServer()
    expect(await send(server.url, { html: `<img src="file:///etc/hostname">` })).toEqual({ _tag: "Accepted" })
    expect(server.messages[0]?.text).toContain("file:///etc/hostname")
  })
})

describe("a signed message", () => {
  it("is found good by another's verifier, and so are both headers of its unsubscription", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const key = Redacted.make(privateKey.export({ type: "pkcs8", format: "pem" }).toString())
    const server = await mailServer()
    const html = "<p>Grüße – a line that is long enough to be folded, and folded again, by whoever folds lines.</p>"
    await send(server.url, { html, dkim: { domain: "acme.test", selector: "s2026", key } })
    const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`
    const verify = async (text: string) => {
      const resolver = async (name: string, type: string) => {
        if (name === "s2026._domainkey.acme.test" && type === "TXT") return [[record]]
        throw Object.assign(new Error("no such record"), { code: "ENOTFOUND" })
      }
      const { dkim } = await authenticate(text, {
        trustReceived: false,
        disableArc: true,
        disableDmarc: true,
        resolver,
      })
      return dkim.results[0]
    }
    const text = server.messages[0]!.text
    const found = await verify(text)
    expect(found).toMatchObject({ signingDomain: "acme.test", status: { result: "pass" } })
    for (const name of ["from", "to", "subject", "message-id", "list-unsubscribe", "list-unsubscribe-post"]) {
      expect(found?.signingHeaders?.keys.toLowerCase().split(": ")).toContain(name)
    }
    expect((await verify(text.replace("List-Unsubscribe=One-Click", "List-Unsubscribe=Two")))?.status.result).toBe(
      "fail",
    )
  })
})

describe("a message that the server does not take", () => {
  it.each([
    ["rcpt", "550 5.1.1 No such user", bounced("mailbox_not_found")],
    ["rcpt", "550 5.1.0 Address rejected", bounced("mailbox_not_found")],
    ["rcpt", "550 #5.1.0 Address rejected", bounced("mailbox_not_found")],
    ["rcpt", "550 No such user here", bounced("mailbox_not_found")],
    ["rcpt", "550 5.5.0 Mailbox unavailable", bounced("mailbox_not_found")],
    ["rcpt", "550 5.2.1 Mailbox disabled", bounced("mailbox_disabled")],
    ["rcpt", "550 5.1.2 Bad destination system", bounced("domain_not_found")],
    ["rcpt", "550 5.4.4 Domain does not exist", bounced("domain_not_found")],
    ["rcpt", "556 5.1.10 Domain takes no mail", bounced("domain_not_found")],
    ["rcpt", "553 5.1.3 Bad address syntax", bounced("address_invalid")],
    ["rcpt", "501 Syntax error in the address", bounced("address_invalid")],
    ["rcpt", "553 Mailbox name not allowed", bounced("address_invalid")],
    ["rcpt", "554 Transaction failed", bounced("other")],
    ["rcpt", "551 5.1.6 Mailbox has moved", bounced("mailbox_not_found")],
    ["data", "550 5.1.1 No such user", bounced("mailbox_not_found")],
    ["data", "554 5.6.0 Content not understood", refused],
    ["rcpt", "450 4.2.0 Greylisted", deferred],
    ["rcpt", "450 4.7.1 Try again", deferred],
    ["rcpt", "452 4.2.2 Mailbox full", deferred],
    ["rcpt", "552 5.2.2 Mailbox full", deferred],
    ["rcpt", "552 Exceeded storage", deferred],
    ["data", "451 4.3.0 Local error", deferred],
    ["connect", "421 4.3.2 Shutting down", unwilling("421 to CONN")],
    ["from", "451 4.3.0 Local error", unwilling("451 to MAIL FROM")],
    ["rcpt", "550 5.7.1 Blocked by policy", refused],
    ["rcpt", "550 5.7.26 Unauthenticated sender", refused],
    ["data", "554 5.7.1 Looks like spam", refused],
    ["rcpt", "550 5.1.8 Sender's domain unknown", refused],
    ["from", "550 5.1.1 Sender unknown", unwilling("550 to MAIL FROM")],
    ["connect", "554 Your address is listed", unwilling("554 to CONN")],
  ] as const)("answering %s with %s", async (at, reply, outcome) => {
    expect(await send((await mailServer({ at, reply })).url)).toEqual(outcome)
  })

  it("because its address cannot be written in the protocol is bounced", async () => {
    expect(await send((await mailServer()).url, { to: "a>b\r\n@clinic.test" })).toEqual(bounced("address_invalid"))
  })

  it("because there is no server, or it hangs up, is unreachable", async () => {
    expect(await send("smtp://127.0.0.1:1")).toEqual(unreachable)
    expect(await send("smtp://mail.invalid")).toEqual(unreachable)
    const port = await listen(createTcpServer((socket) => socket.end("220 hello\r\n")))
    expect(await send(`smtp://127.0.0.1:${port}`)).toEqual(unreachable)
  })

  it("because the server never answers is unreachable at the deadline", async () => {
    const port = await listen(createTcpServer((socket) => socket.write("220 hello\r\n")))
    expect(await send(`smtp://127.0.0.1:${port}`, { callMs: 200 })).toEqual(unreachable)
  })
})
