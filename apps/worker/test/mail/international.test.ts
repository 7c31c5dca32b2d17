import type { CampaignId } from "@outreach/domain/Identifier"
import { Mailer } from "@outreach/domain/mail/Mailer"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { listen } from "@outreach/testing/listen"
import { Clock, Effect, Redacted } from "effect"
import { authenticate } from "mailauth"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { describe, expect, it } from "vitest"
import { SmtpMailer } from "../../src/mail/SmtpMailer.ts"

interface Received {
  readonly mailFrom: { readonly address: string; readonly args: unknown }
  readonly to: string
  readonly text: string
}

/** Starts an SMTP server that keeps what it is given, with the parameters of MAIL FROM. */
const server = async (options: SMTPServerOptions = {}) => {
  const received: Received[] = []
  const smtp = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    ...options,
    onData: (stream, { envelope }, done) => {
      stream.toArray().then((chunks) => {
        const mailFrom = envelope.mailFrom as Received["mailFrom"]
        received.push({ mailFrom, to: envelope.rcptTo[0]!.address, text: Buffer.concat(chunks).toString() })
        done()
      }, done)
    },
  })
  smtp.on("error", () => {})
  // The server shows domains with their letters, so what was sent is read from the wire.
  const wire: Buffer[] = []
  smtp.server.on("connection", (socket) => void socket.on("data", (chunk) => wire.push(chunk)))
  const commands = () => Buffer.concat(wire).toString().split("\r\n")
  return { url: `smtp://127.0.0.1:${await listen(smtp.server)}`, received, commands }
}

const pair = Effect.runSync(Effect.cached(generateDkimKeyPair))

/** Sends to addresses one after another, on one connection; returns the outcomes. */
const send = (url: string, ...addresses: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const mailer = yield* Mailer
    const dkim = { domain: "acme.test", keys: [{ selector: "s1", ...(yield* pair) }] }
    const from = { name: "Büro für Einladungen", address: "outreach@acme.test" }
    const lease = {
      campaignId: "cmp_1" as CampaignId,
      beginBy: (yield* Clock.currentTimeNanos) + 60_000_000_000n,
      begin: () => {},
      isHeld: () => true,
    }
    return yield* Effect.forEach(addresses, (to) =>
      mailer.send(
        {
          sender: { id: null, from, replyTo: null, bounceDomain: null, dkim },
          to,
          subject: "Einladung – an invitation",
          html: "<p>Grüße</p>",
          text: "Grüße",
          messageId: "<rcp_1@acme.test>",
          feedbackId: "cmp_1:pgm_1:org_1:outreach",
          returnPath: "bounce-1@bounces.acme.test",
          unsubscribeUrl: "https://outreach.test/unsubscribe/1",
        },
        lease,
        Effect.succeed,
      ),
    )
  }).pipe(Effect.provide(SmtpMailer({ url: Redacted.make(url) })), Effect.runPromise)

const verify = async (text: string) => {
  const { publicKey } = await Effect.runPromise(pair)
  const resolver = async (name: string, type: string) => {
    if (name === "s1._domainkey.acme.test" && type === "TXT") return [[`v=DKIM1; k=rsa; p=${publicKey}`]]
    throw Object.assign(new Error("no such record"), { code: "ENOTFOUND" })
  }
  const { dkim } = await authenticate(text, { trustReceived: false, disableArc: true, disableDmarc: true, resolver })
  return dkim.results[0]?.status.result
}

const accepted = { _tag: "Accepted" }
const refused = { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }

describe("an address with letters beside ASCII", () => {
  it("is sent to with SMTPUTF8 where the server offers it, signed, from a return path in ASCII", async () => {
    const { url, received } = await server()
    expect(await send(url, "josé@xn--bro-hoa.test")).toEqual([accepted])
    const [{ mailFrom, to, text }] = received as [Received]
    expect(mailFrom).toMatchObject({ address: "bounce-1@bounces.acme.test", args: { SMTPUTF8: true } })
    expect(to).toMatch(/^josé@(?:büro|xn--bro-hoa)\.test$/)
    expect(text).toMatch(/^To: josé@(?:büro|xn--bro-hoa)\.test\r$/m)
    expect(text).toMatch(/^From: =\?UTF-8\?[BQ]\?[!-~]+\?= <outreach@acme\.test>\r$/m)
    expect(await verify(text)).toBe("pass")
  })

  it("is refused where the server does not, and every other is sent to on the same connection", async () => {
    const { url, received } = await server({ hideSMTPUTF8: true } as SMTPServerOptions)
    expect(await send(url, "a@clinic.test", "josé@clinic.test", "b@clinic.test")).toEqual([accepted, refused, accepted])
    expect(received.map(({ to }) => to)).toEqual(["a@clinic.test", "b@clinic.test"])
  })

  it("behind the @ alone needs no SMTPUTF8", async () => {
    const { url, received, commands } = await server()
    expect(await send(url, "anna@xn--bro-hoa.test")).toEqual([accepted])
    const [{ mailFrom, text }] = received as [Received]
    expect(mailFrom.args).not.toMatchObject({ SMTPUTF8: true })
    expect(commands().find((line) => line.startsWith("RCPT TO"))).toMatch(/^RCPT TO:<anna@xn--bro-hoa\.test>/)
    expect(text.split("\r\n\r\n")[0]).toMatch(/^[\t\r\n -~]*$/)
    expect(await verify(text)).toBe("pass")
  })
})
