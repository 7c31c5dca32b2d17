import { SmtpTransport } from "@outreach/mail/SmtpTransport"
import { listen } from "@outreach/testing/listen"
import { Effect, Redacted } from "effect"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { describe, expect, it } from "vitest"
import { mailTo, sendMail } from "./testMail.ts"

const accepted = { _tag: "Accepted", reply: "250 OK: message queued" }
/** Outcome if the server lacks SMTPUTF8. */
const refused = { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }

const sender = { from: { name: "Büro für Einladungen", address: "outreach@acme.test" } }

/** Sends a message to each address in turn on one connection. Returns the outcomes. */
const sendTo = (url: string, ...addresses: ReadonlyArray<string>) =>
  Effect.forEach(addresses, (to) => sendMail(mailTo(to, { sender }))).pipe(
    Effect.provide(SmtpTransport(Redacted.make(url))),
    Effect.runPromise,
  )

interface Received {
  readonly mailFrom: { readonly address: string; readonly args: unknown }
  readonly to: string
  readonly text: string
}

/** Starts an SMTP server that stores messages with the parameters of MAIL FROM. */
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
  // The server decodes domains, so the sent bytes are read from the connection.
  const wire: Buffer[] = []
  smtp.server.on("connection", (socket) => void socket.on("data", (chunk) => wire.push(chunk)))
  const commands = () => Buffer.concat(wire).toString().split("\r\n")
  return { url: `smtp://127.0.0.1:${await listen(smtp.server)}`, received, commands }
}

describe("an address with non-ASCII letters", () => {
  it("is sent to with SMTPUTF8 where the server offers it, from a return path in ASCII", async () => {
    const { url, received } = await server()
    expect(await sendTo(url, "josé@xn--bro-hoa.test")).toEqual([accepted])
    const [{ mailFrom, to, text }] = received as [Received]
    expect(mailFrom).toMatchObject({ address: "bounce-1@bounces.acme.test", args: { SMTPUTF8: true } })
    expect(to).toMatch(/^josé@(?:büro|xn--bro-hoa)\.test$/)
    expect(text).toMatch(/^To: josé@(?:büro|xn--bro-hoa)\.test\r$/m)
    expect(text).toMatch(/^From: =\?UTF-8\?[BQ]\?[!-~]+\?= <outreach@acme\.test>\r$/m)
  })

  it("is rejected if the server lacks SMTPUTF8, and other addresses receive mail on the same connection", async () => {
    const { url, received } = await server({ hideSMTPUTF8: true } as SMTPServerOptions)
    expect(await sendTo(url, "a@clinic.test", "josé@clinic.test", "b@clinic.test")).toEqual([
      accepted,
      refused,
      accepted,
    ])
    expect(received.map(({ to }) => to)).toEqual(["a@clinic.test", "b@clinic.test"])
  })

  it("only after the @ doesn't require SMTPUTF8", async () => {
    const { url, received, commands } = await server()
    expect(await sendTo(url, "anna@xn--bro-hoa.test")).toEqual([accepted])
    const [{ mailFrom, text }] = received as [Received]
    expect(mailFrom.args).not.toMatchObject({ SMTPUTF8: true })
    expect(commands().find((line) => line.startsWith("RCPT TO"))).toMatch(/^RCPT TO:<anna@xn--bro-hoa\.test>/)
    expect(text.split("\r\n\r\n")[0]).toMatch(/^[\t\r\n -~]*$/)
  })
})
