import { type AddressInfo, createServer as createTcpServer } from "node:net"
import type { MailFailure, MailOutcome } from "@outreach/domain/mail/Transport"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import type { SmtpTimeouts } from "@outreach/mail/SmtpSession"
import { SmtpTransport } from "@outreach/mail/SmtpTransport"
import { listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { until } from "@outreach/testing/until"
import { Effect, Fiber, Redacted } from "effect"
import { SMTPServer } from "smtp-server"
import { describe, expect, it, onTestFinished } from "vitest"
import { lineServer, willingExcept, willingReply } from "./lineServer.ts"
import { mailTo, sendMail } from "./testMail.ts"
import { verifySignatures } from "./verifySignatures.ts"

const send = (
  url: string,
  options: {
    readonly to?: string
    readonly html?: string
    readonly dkim?: SenderIdentity["dkim"]
    readonly mayComplete?: () => boolean
    readonly timeouts?: SmtpTimeouts
  } = {},
) => {
  const { to = "clinician@clinic.test", html = "<p>Your link</p>", dkim = null, mayComplete, timeouts } = options
  const mail = mailTo(to, { html, sender: { replyTo: "replies@acme.test", dkim } })
  return sendMail(mail, mayComplete).pipe(
    Effect.provide(SmtpTransport(Redacted.make(url), timeouts)),
    Effect.runPromise,
  )
}

const accepted: MailOutcome = { _tag: "Accepted", reply: "250 OK: message queued" }
const bounced = (reason: string) => ({ _tag: "Bounced", reason }) as MailOutcome
const deferred: MailOutcome = { _tag: "Deferred" }
const refused: MailOutcome = { _tag: "Refused", status: expect.stringMatching(/^5\d\d 5\.\d+\.\d+$/) }
const failed = (failureClass: MailFailure["class"], code: string): MailOutcome => ({
  _tag: "Unreachable",
  failure: { class: failureClass, code },
})

describe("a message that the server takes", () => {
  it("is accepted with its content and the return path as envelope sender", async () => {
    const server = await mailServer()
    expect(await send(server.url)).toEqual(accepted)
    const [message] = server.messages
    expect(message).toMatchObject({ from: "bounce-1@bounces.acme.test", to: ["clinician@clinic.test"] })
    for (const part of ["Reply-To: replies@acme.test", "Message-ID: <rcp_1@acme.test>", "<p>Your link</p>"]) {
      expect(message!.text).toContain(part)
    }
  })

  it("never reads a file or a page that its HTML names", async () => {
    const server = await mailServer()
    expect(await send(server.url, { html: `<img src="file:///etc/hostname">` })).toEqual(accepted)
    expect(server.messages[0]?.text).toContain("file:///etc/hostname")
  })
})

it("a signed message covers the headers for unsubscribing and complaints", async () => {
  const { publicKey, privateKey } = await Effect.runPromise(generateDkimKeyPair)
  const server = await mailServer()
  await send(server.url, { dkim: { domain: "acme.test", keys: [{ selector: "s1", privateKey }] } })
  const records = { "s1._domainkey.acme.test": `v=DKIM1; k=rsa; p=${publicKey}` }
  const [found] = await verifySignatures(server.messages[0]!.text, records)
  expect(found?.status.result).toBe("pass")
  const unsubscription = ["list-unsubscribe", "list-unsubscribe-post"]
  const complaints = ["feedback-id", "x-outreach-message"]
  for (const name of ["from", "reply-to", "to", "subject", "message-id", ...unsubscription, ...complaints]) {
    expect(found?.signingHeaders?.keys.toLowerCase().split(": ")).toContain(name)
  }
})

describe("a message that the server does not take", () => {
  it.each([
    ["rcpt", "550 #5.1.0 Address rejected", bounced("mailbox_not_found")],
    ["data", "550 5.1.1 No such user", bounced("mailbox_not_found")],
    ["data", "554 5.6.0 Content not understood", refused],
    ["rcpt", "450 4.2.0 Greylisted", { ...deferred, greylistedSeconds: 300 }],
    ["data", "451 4.3.0 Local error", deferred],
    ["connect", "421 4.3.2 Shutting down", failed("rejected", "421 4.3.2 to CONN")],
    ["connect", "554 Your address is listed", failed("rejected", "554 to CONN")],
    ["from", "451 4.3.0 Local error", failed("rejected", "451 4.3.0 to MAIL FROM")],
    ["from", "550 5.1.1 Sender unknown", failed("rejected", "550 5.1.1 to MAIL FROM")],
    ["rcpt", "503 5.5.1 MAIL first", failed("rejected", "503 5.5.1 to RCPT TO")],
  ] as const)("answering %s with %s", async (at, reply, outcome) => {
    const isJudged = outcome._tag !== "Unreachable"
    expect(await send((await mailServer({ at, reply })).url)).toEqual({ ...outcome, ...(isJudged && { reply }) })
  })

  it("is reported with the server's reply, without the address", async () => {
    const reply = "550 5.1.1 <clinician@clinic.test>: no clinician here"
    expect(await send((await mailServer({ at: "rcpt", reply })).url)).toMatchObject({
      reply: "550 5.1.1 <[address]>: no [address] here",
    })
  })

  it.each(["a>b\r\n@clinic.test", "a@clinic.test, b@clinic.test"])(
    "because its address cannot be written in the protocol is bounced: %j",
    async (to) => {
      const server = await mailServer()
      expect(await send(server.url, { to })).toMatchObject(bounced("address_invalid"))
      expect(server.messages).toEqual([])
    },
  )

  it("because there is no server, or it hangs up, is unreachable", async () => {
    expect(await send("smtp://127.0.0.1:1")).toEqual(failed("refused", "ECONNREFUSED"))
    expect(await send("smtp://mail.invalid")).toMatchObject({ _tag: "Unreachable", failure: { class: "dns" } })
    const port = await listen(createTcpServer((socket) => socket.end("220 hello\r\n")))
    expect(await send(`smtp://127.0.0.1:${port}`)).toEqual(failed("reset", "ECONNECTION"))
  })
})

describe("each step of a session has a separate timeout", () => {
  // Far longer than necessary, except for the timeout under test.
  const patient: SmtpTimeouts = { connectMs: 60_000, replyMs: 60_000, dataMs: 60_000, blockMs: 60_000, finalMs: 60_000 }

  it.each([
    ["connected", { replyMs: 100 }, "Unreachable", "timeout"],
    ["EHLO", { replyMs: 500 }, "Unreachable", "timeout"],
    ["MAIL", { replyMs: 500 }, "Unreachable", "timeout"],
    ["RCPT", { replyMs: 500 }, "Unreachable", "slow"],
    ["DATA", { dataMs: 100 }, "Unreachable", "slow"],
    [".", { finalMs: 100 }, "Unknown", "slow"],
  ] as const)(
    "and a server that is silent after %s meets the one of that step",
    async (command, timeouts, tag, failureClass) => {
      const server = await lineServer(willingExcept({ [command]: undefined }))
      const outcome = await send(server.url, { timeouts: { ...patient, ...timeouts } })
      expect(outcome).toMatchObject({ _tag: tag, failure: { class: failureClass } })
    },
  )

  it("a connection that drops after the final dot leaves an unknown outcome", async () => {
    const server = await lineServer(willingExcept({ ".": null }))
    expect(await send(server.url)).toEqual({ _tag: "Unknown", failure: { class: "reset", code: "ECONNECTION" } })
    const early = await lineServer(willingExcept({ RCPT: null }))
    expect(await send(early.url)).toEqual(failed("reset", "ECONNECTION"))
  })

  it("a message isn't completed if its lease is lost while its content is sent", async () => {
    const server = await lineServer(willingReply)
    expect(await send(server.url, { mayComplete: () => false })).toEqual({ _tag: "Late" })
    expect(server.lines).not.toContain(".")
  })
})

describe("a relay that rejects us", () => {
  it.each([
    ["554 5.7.1 <clinician@clinic.test>: Relay access denied", "554 5.7.1 to RCPT TO"],
    ["550 relay not permitted", "550 to RCPT TO"],
    ["553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", "553 5.7.1 to RCPT TO"],
    ["550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain", "550 5.7.54 to RCPT TO"],
  ])("before we logged in, with %s, is the reason, and not the recipient's domain", async (reply, code) => {
    expect(await send((await mailServer({ at: "rcpt", reply })).url)).toEqual(failed("relay_denied", code))
  })

  it("because a login is required, or fails, is the reason", async () => {
    const required = await mailServer({ at: "rcpt", reply: "530 5.7.0 Authentication required" })
    expect(await send(required.url)).toEqual(failed("login", "530 5.7.0 to RCPT TO"))
    const server = new SMTPServer({
      authOptional: false,
      hideSTARTTLS: true,
      allowInsecureAuth: true,
      onAuth: (_, __, done) => done(new Error("Invalid username or password")),
    })
    const port = await listen(server.server)
    expect(await send(`smtp://user:wrong@127.0.0.1:${port}`)).toEqual(failed("login", "535 to AUTH PLAIN"))
  })

  it("without the required TLS is the reason, and receives no further message", async () => {
    const rejected = "454 4.7.0 TLS not available due to temporary reason"
    const offering = await lineServer(willingExcept({ EHLO: "250-mx.test\r\n250 STARTTLS", STARTTLS: rejected }))
    expect(await send(`${offering.url}?requireTLS=true`)).toEqual(failed("tls", "454 4.7.0 to STARTTLS"))
    const plain = await mailServer()
    expect(await send(plain.url)).toEqual(accepted)
    expect(await send(`${plain.url}?requireTLS=true`)).toEqual(failed("tls", "no STARTTLS"))
    expect(plain.messages).toHaveLength(1)
  })

  it("because we do not trust its certificate, is the reason", async () => {
    const server = new SMTPServer({ secure: true })
    // Not `listen`, which destroys sockets: Node crashes if one is in a TLS handshake.
    onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
    const port = await new Promise<number>((resolve) => {
      server.on("error", () => {})
      server.listen(0, "127.0.0.1", () => resolve((server.server.address() as AddressInfo).port))
    })
    expect(await send(`smtps://127.0.0.1:${port}`)).toMatchObject({
      _tag: "Unreachable",
      failure: { class: "tls", code: "CERT_HAS_EXPIRED" },
    })
  })
})

describe("sessions", () => {
  it("are reused for the next message", async () => {
    const server = await mailServer()
    const messages = [mailTo("a@clinic.test"), mailTo("b@clinic.test")]
    const sending = Effect.forEach(messages, (mail) => sendMail(mail))
    await sending.pipe(Effect.provide(SmtpTransport(Redacted.make(server.url))), Effect.runPromise)
    expect(server.messages).toHaveLength(2)
    expect(server.connections()).toBe(1)
  })

  it("are closed without completing the message if the sender stops before the final dot", async () => {
    const { url, changes, lines, closed } = await lineServer(willingExcept({ RCPT: undefined }))
    const transport = SmtpTransport(Redacted.make(url))
    const sending = Effect.runFork(Effect.provide(sendMail(mailTo("a@clinic.test")), transport))
    await until({ changes }, () => lines.some((line) => line.startsWith("RCPT")))
    await Effect.runPromise(Fiber.interrupt(sending))
    await until({ changes }, () => closed() === 1)
    expect(lines).not.toContain("DATA")
  })
})
