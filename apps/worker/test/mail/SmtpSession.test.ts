import { readFileSync } from "node:fs"
import type { Socket } from "node:net"
import { createInterface } from "node:readline"
import { TLSSocket } from "node:tls"
import { type SmtpOptions, SmtpSession, type SmtpTimeouts } from "@outreach/mail/SmtpSession"
import { listen } from "@outreach/testing/listen"
import { Changes, until } from "@outreach/testing/until"
import fc from "fast-check"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { describe, expect, it, onTestFinished } from "vitest"
import { lineServer, willingExcept, willingReply } from "./lineServer.ts"

const minute = 60_000
const TIMEOUTS: SmtpTimeouts = { connectMs: minute, replyMs: minute, dataMs: minute, blockMs: minute, finalMs: minute }
const pem = (name: string) => readFileSync(new URL(`../data/${name}.pem`, import.meta.url))
const certificate = { cert: pem("certificate"), key: pem("key") }

const open = async (port: number, options: SmtpOptions = {}) => {
  const tls = { rejectUnauthorized: false }
  const session = await SmtpSession.open({ host: "127.0.0.1", port, tls, ...options }, TIMEOUTS)
  onTestFinished(() => session.close())
  return session
}

const send = (session: SmtpSession, text = "Subject: x\r\n\r\ntext\r\n", to = "clinician@clinic.test") =>
  session.send({ envelope: { from: "bounce-1@acme.test", to }, message: Buffer.from(text) }, () => true)

it.each(["250 ok\r\n", "421 4.3.2 Shutting down\r\n", "what?\r\n", "2"])(
  "an idle session is ended by %j",
  async (bytes) => {
    let client: Socket | undefined
    const changes = new Changes()
    const { port } = await lineServer((line, socket) => {
      client ??= socket.on("close", () => changes.announce())
      return willingReply(line)
    })
    const session = await open(port)
    expect(await send(session)).toBe("250 fine")
    expect(session.isOpen).toBe(true)
    client!.write(bytes)
    await until({ changes }, () => !session.isOpen)
    await expect(send(session)).rejects.toMatchObject({
      code: "EPROTOCOL",
      command: expect.stringMatching("CONN|DATA"),
    })
  },
)

describe("a refusal", () => {
  it("is a protocol error and closes the session if the replies turn out to be one command late", async () => {
    // Each reply arrives one command late.
    let held = "550 5.1.1 No such user"
    const { port } = await lineServer((line) => {
      const reply = willingReply(line) ?? "500 what?"
      if (/^(connected|MAIL)/.test(line) || (line.startsWith("EHLO") && held.startsWith("550"))) return reply
      const late = held
      held = reply
      return late
    })
    const session = await open(port)
    await expect(send(session)).rejects.toMatchObject({ code: "EPROTOCOL", command: "RCPT TO" })
    expect(session.isOpen).toBe(false)
  })

  it.each(["MAIL", "RCPT", "DATA"])("of %s is confirmed by QUIT, and ends the session", async (command) => {
    const { port, lines } = await lineServer(willingExcept({ [command]: "550 5.1.1 No such user", QUIT: "221 Bye" }))
    const session = await open(port)
    await expect(send(session)).rejects.toMatchObject({ code: "EREPLY", reply: { code: 550 } })
    expect([session.isOpen, lines.at(-1)]).toEqual([false, "QUIT"])
  })

  it("is reported even if the server closes the connection right after it", async () => {
    const { port } = await lineServer((line, socket) => {
      if (line.startsWith("RCPT")) return void socket.end("550 5.1.1 No such user\r\n")
      return willingReply(line)
    })
    await expect(send(await open(port))).rejects.toMatchObject({ reply: { code: 550 }, command: "RCPT TO" })
  })
})

/** Starts an SMTP server of a different implementation that stores the messages. */
const smtpServer = async (options: SMTPServerOptions = {}) => {
  const texts: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    ...options,
    onData: (stream, _, done) => {
      stream.toArray().then((chunks) => {
        texts.push(Buffer.concat(chunks).toString("latin1"))
        done()
      }, done)
    },
  })
  server.on("error", () => {})
  return { port: await listen(server.server), texts }
}

describe("a message", () => {
  it("arrives as it is, with its dots, and with CRLF for every end of a line", async () => {
    const { port, texts } = await smtpServer()
    const session = await open(port)
    const part = fc.constantFrom(".", "..", "\r\n", "\n", "\r", "a", "é", "\r\n.\r\n", "\n.\n", "\r.\r")
    const property = fc.asyncProperty(fc.array(part), async (parts) => {
      const text = parts.join("")
      await send(session, text)
      const lines = Buffer.from(text)
        .toString("latin1")
        .replace(/\r\n?|\n/g, "\r\n")
      expect(texts.pop()?.replace(/\r\n$/, "")).toBe(lines.replace(/\r\n$/, ""))
      expect(texts).toEqual([])
    })
    await fc.assert(property)
  })

  it("longer than a block arrives whole", async () => {
    const { port, texts } = await smtpServer({ size: 10_000_000 })
    const text = ".line of a message\r\n".repeat(20_000)
    await send(await open(port), text)
    expect(texts).toEqual([text])
  })
})

it.each(["PLAIN", "LOGIN"])("a login by AUTH %s is taken with the password, and refused without", async (method) => {
  const { port } = await smtpServer({
    authMethods: [method],
    onAuth: ({ password }, _, done) =>
      done(password === "pässword 1" ? null : new Error("wrong"), { user: "outreach" }),
  })
  expect((await open(port, { auth: { user: "outreach", pass: "pässword 1" } })).isLoggedIn).toBe(true)
  await expect(open(port, { auth: { user: "outreach", pass: "wrong" } })).rejects.toMatchObject({
    code: "EAUTH",
    command: `AUTH ${method}`,
    reply: { code: 535 },
  })
})

describe("STARTTLS", () => {
  /** Starts a server with STARTTLS that sends additional plain text right after its consent. */
  const injecting = (injected: string) =>
    lineServer((line, socket) => {
      if (line !== "STARTTLS") return line === "connected" ? "220 hello" : "250-mx.test\r\n250 STARTTLS"
      socket.removeAllListeners("data")
      socket.write(`220 go on\r\n${injected}`)
      const secure = new TLSSocket(socket, { isServer: true, ...certificate })
      secure.on("error", () => {})
      createInterface(secure)
        .on("line", () => secure.write("250-mx.test\r\n250 SIZE\r\n"))
        .on("error", () => {})
      return undefined
    })

  it("encrypts the session", async () => {
    const session = await open((await injecting("")).port)
    expect([session.isEncrypted, session.isOpen]).toEqual([true, true])
  })

  it.each(["250-evil.test\r\n250 AUTH PLAIN\r\n", "250 evil.test\r\n", "250-evil.test", "\r\n", " "])(
    "is not trusted when %j is said behind its consent in plain text",
    async (injected) => {
      const { port, lines } = await injecting(injected)
      await expect(open(port)).rejects.toMatchObject({ code: "EPROTOCOL", command: "STARTTLS" })
      expect(lines.at(-1)).toBe("STARTTLS")
    },
  )

  it("is required with requireTLS, and no commands follow if the server doesn't offer it", async () => {
    const { port, lines } = await lineServer((line) => willingReply(line) ?? "502 what?")
    const auth = { user: "outreach", pass: "secret" }
    const options = { requireTLS: true, auth, name: "mail.acme.test" }
    await expect(open(port, options)).rejects.toMatchObject({ code: "ETLS" })
    expect(lines).toEqual(["connected", "EHLO mail.acme.test"])
  })
})

it("a session falls back to HELO if the server rejects EHLO", async () => {
  const { port, lines } = await lineServer(willingExcept({ EHLO: "500 what?", HELO: "250 mx.test" }))
  expect(await send(await open(port))).toBe("250 fine")
  expect(lines.slice(0, 4).map((line) => line.split(" ", 1)[0])).toEqual(["connected", "EHLO", "HELO", "MAIL"])
})
