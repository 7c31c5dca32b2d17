import { once } from "node:events"
import { connect, isIP, type Socket } from "node:net"
import { hostname } from "node:os"
import { setImmediate } from "node:timers/promises"
import { type ConnectionOptions, connect as connectTls } from "node:tls"
import { isAscii } from "@outreach/domain/DomainName"
import type { ComposedMail } from "@outreach/domain/mail/Transport"
import { encodeXText } from "nodemailer/lib/shared"
import { SmtpError } from "./SmtpError.ts"
import { type SmtpReply, SmtpReplyReader } from "./SmtpReplyReader.ts"

/** Timeouts of the steps of a session: those of RFC 5321, 4.5.3.2, and one for connecting. */
export const TIMEOUTS = {
  connectMs: 30_000,
  /** Greeting, TLS handshake, and the reply to every command except DATA. */
  replyMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  /** Reply to the final dot. */
  finalMs: 600_000,
}
export type SmtpTimeouts = Readonly<typeof TIMEOUTS>

/** Connection options, as nodemailer parses them from a URL. */
export interface SmtpOptions {
  /** Default `localhost`. */
  readonly host?: string
  /** Default 465 with `secure`, otherwise 587. */
  readonly port?: number | string
  /** Uses TLS from the start. */
  readonly secure?: boolean
  /** Fails if the server doesn't offer STARTTLS. */
  readonly requireTLS?: boolean
  readonly tls?: ConnectionOptions
  /** Our EHLO name. Default: the machine's name. */
  readonly name?: string
  readonly auth?: { readonly user?: string; readonly pass?: string }
}

interface Awaited {
  readonly command: string
  /** Success codes. Every command may be rejected with 4xx or 5xx. */
  readonly expects: RegExp
  readonly ms: number
  readonly resolve: (reply: SmtpReply) => void
  readonly reject: (error: SmtpError) => void
}

/**
 * A connection to an SMTP server with a timeout for each step.
 *
 * A malformed or unexpected reply ends the session: a later command would receive the reply of another.
 */
export class SmtpSession {
  isOpen = true
  isLoggedIn = false
  isEncrypted = false
  sentMessages = 0
  /** Whether part of the current message may have been sent. */
  isMessageBegun = false
  /** Whether the final dot of the current message may have been sent and its reply is pending. */
  isMessageSent = false
  readonly #timeouts: SmtpTimeouts
  #socket: Socket
  #reader = new SmtpReplyReader()
  /** Extensions offered by the server, with parameters. */
  #extensions: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
  /** Oldest first. */
  #awaited: Awaited[] = []
  #timer: NodeJS.Timeout | undefined
  #error: SmtpError | undefined
  /** Resolves the pending write. */
  #written = () => {}

  /** Connects, secures the connection and logs in according to the options. */
  static async open(options: SmtpOptions, timeouts: SmtpTimeouts): Promise<SmtpSession> {
    const session = new SmtpSession(await openSocket(options, timeouts.connectMs), timeouts)
    try {
      await session.#start(options)
      return session
    } catch (error) {
      session.close()
      throw error
    }
  }

  private constructor(socket: Socket, timeouts: SmtpTimeouts) {
    this.#timeouts = timeouts
    this.#socket = socket
    this.#listen()
  }

  /**
   * Sends a message and returns the server's reply. Rejects with an `SmtpError`: ESMTPUTF8 if an address needs an extension that the server doesn't
   * offer (RFC 6531, 3.2). If the session is still open, it is ready for another message. A rejection ends it.
   *
   * `mayComplete` is called before the final dot, without which the server discards the message; false ends the session.
   */
  async send({ envelope: { from, to }, message }: ComposedMail, mayComplete: () => boolean): Promise<string> {
    this.isMessageBegun = false
    this.isMessageSent = false
    try {
      await this.#begin(from, to)
      await this.#write(message, mayComplete)
      const { text } = await this.#await("DATA", TAKEN, this.#timeouts.finalMs)
      this.isMessageSent = false
      this.sentMessages += 1
      return text
    } catch (error) {
      if (error instanceof SmtpError) throw await this.#confirm(error)
      this.close()
      throw error
    }
  }

  close(): void {
    this.#end(disconnected())
  }

  quit(): void {
    if (!this.isOpen) return
    this.isOpen = false
    clearTimeout(this.#timer)
    const socket = this.#socket
    socket.end("QUIT\r\n")
    const timer = setTimeout(() => socket.destroy(), QUIT_MS).unref()
    socket.once("close", () => clearTimeout(timer))
  }

  async #start(options: SmtpOptions): Promise<void> {
    const { secure = false, requireTLS = false, auth, name = defaultName() } = options
    if (secure) await this.#secure(options)
    await this.#await("CONN", /^220/, this.#timeouts.replyMs)
    await this.#sayHello(name)
    const offersTls = this.#extensions.has("STARTTLS")
    if (!secure && requireTLS && !offersTls) throw new SmtpError({ code: "ETLS", command: "STARTTLS" })
    if (!secure && offersTls) {
      await this.#command("STARTTLS", /^220/)
      await this.#secure(options)
      // Data from before TLS is discarded (RFC 3207, 4.2).
      await this.#sayHello(name)
    }
    if (auth && this.#extensions.has("AUTH")) await this.#logIn(auth)
  }

  async #secure({ host = "localhost", tls }: SmtpOptions): Promise<void> {
    const plain = this.#socket
    for (const event of ["data", "end", "error"]) plain.removeAllListeners(event)
    plain.on("error", () => {})
    const socket = connectTls({ socket: plain, host, ...(isIP(host) === 0 && { servername: host }), ...tls })
    socket.once("close", () => plain.destroy())
    this.#socket = socket
    const secured = this.#await("CONN", NOTHING, this.#timeouts.replyMs)
    socket.once("secureConnect", () => this.#answer({ code: 0, text: "" }))
    this.#listen()
    await secured
    this.isEncrypted = true
  }

  async #sayHello(name: string): Promise<void> {
    const say = (hello: string) => this.#command(`${hello} ${name}`, /^250/)
    // Behind some firewalls, servers reject EHLO.
    const reply = await say("EHLO").catch((error: SmtpError) => {
      if ((error.reply?.code ?? 0) < 500) throw error
      return say("HELO")
    })
    // Some old servers write `AUTH=PLAIN`.
    const lines = reply.text.split("\n").map((line) => line.slice(4).toUpperCase().split(/[ =]+/))
    this.#extensions = new Map(lines.slice(1).map(([keyword, ...parameters]) => [keyword!, parameters]))
  }

  async #logIn({ user, pass }: NonNullable<SmtpOptions["auth"]>): Promise<void> {
    if (!user || !pass) throw new SmtpError({ code: "EAUTH", command: "API" })
    const offered = this.#extensions.get("AUTH") ?? []
    const method = offered.includes("LOGIN") && !offered.includes("PLAIN") ? "LOGIN" : "PLAIN"
    const say = (text: string, expects: RegExp) => this.#command(text, expects, `AUTH ${method}`)
    if (method === "PLAIN") await say(`AUTH PLAIN ${base64(`\0${user}\0${pass}`)}`, /^235/)
    else {
      await say("AUTH LOGIN", /^334/)
      await say(base64(user), /^334/)
      await say(base64(pass), /^235/)
    }
    this.isLoggedIn = true
  }

  /** Sends sender and recipient, until the server requests the message. */
  async #begin(from: string, to: string): Promise<void> {
    if (!this.isOpen) throw this.#error ?? disconnected()
    const isValid = [from, to].every((address) => /^[^\r\n<>]+$/.test(address))
    if (!isValid) throw new SmtpError({ code: "EENVELOPE", command: "API" })
    const isInternational = !isAscii(from + to)
    if (isInternational && !this.#extensions.has("SMTPUTF8"))
      throw new SmtpError({ code: "ESMTPUTF8", command: "MAIL FROM" })
    const offersDsn = this.#extensions.has("DSN")
    // Relays are asked to report only failures, without a copy of the message (RFC 3461).
    const sender = `MAIL FROM:<${from}>${isInternational ? " SMTPUTF8" : ""}${offersDsn ? " RET=HDRS" : ""}`
    // International addresses need another encoding (RFC 6533, 3).
    const original = isAscii(to) ? ` ORCPT=${encodeXText(`rfc822;${to}`)}` : ""
    const recipient = `RCPT TO:<${to}>${offersDsn ? ` NOTIFY=FAILURE${original}` : ""}`
    const commands = [
      () => this.#command(sender, /^250/, "MAIL FROM"),
      () => this.#command(recipient, /^25[012]/, "RCPT TO"),
      () => this.#command("DATA", /^354/, "DATA", this.#timeouts.dataMs),
    ]
    if (!this.#extensions.has("PIPELINING")) {
      for (const command of commands) await command()
      return
    }
    // Pipelining saves two round trips (RFC 2920).
    this.#socket.cork()
    const replies = Promise.allSettled(commands.map((command) => command()))
    this.#socket.uncork()
    const [mail, rcpt, data] = await replies
    const refused = [mail, rcpt, data].find((reply) => reply?.status === "rejected")
    if (refused?.status !== "rejected") return
    // An unexpected reply makes the earlier ones unreliable.
    if (this.#error?.code === "EPROTOCOL") throw this.#error
    // A server that expects the message regardless would read the next command as its text.
    if (data?.status === "fulfilled") this.close()
    throw refused.reason
  }

  /** Writes a message, and its final dot after everything before was handed to the system. */
  async #write(message: Uint8Array, mayComplete: () => boolean): Promise<void> {
    this.isMessageBegun = true
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString("latin1")
    // Some servers accept other line ends as well (SMTP smuggling).
    const lines = text.replace(/\r\n?|\n/g, "\r\n").replace(/^\./gm, "..")
    const bytes = Buffer.from(lines.endsWith("\r\n") ? lines : `${lines}\r\n`, "latin1")
    for (let at = 0; at < bytes.length; at += BLOCK_LENGTH) {
      this.#wait("DATA", this.#timeouts.blockMs)
      await new Promise<void>((resolve) => {
        this.#written = resolve
        this.#socket.write(bytes.subarray(at, at + BLOCK_LENGTH), () => resolve())
      })
      if (!this.isOpen) throw this.#error
    }
    // Without the dot, the message isn't delivered: check once more whether the connection is open.
    await setImmediate()
    if (!this.isOpen) throw this.#error
    if (!mayComplete()) throw this.#end(new SmtpError({ code: "ELATE", command: "DATA" }))
    this.isMessageSent = true
    this.#socket.write(".\r\n")
  }

  /**
   * Ends the session after a rejection, and returns the error, or EPROTOCOL if the reply belongs to another command: only QUIT has the reply 221.
   * A server that closes the connection or stays silent hasn't sent another reply either.
   */
  async #confirm(error: SmtpError): Promise<Error> {
    if (error.reply === undefined || !this.isOpen) return error
    try {
      await this.#command("QUIT", /^221/, "QUIT", QUIT_MS)
    } catch (failure) {
      const { code, reply, originalCode = "malformed" } = failure as SmtpError
      if (code === "EPROTOCOL" || (reply !== undefined && reply.code !== 421)) {
        const late = { command: error.command, originalCode: String(reply?.code ?? originalCode) }
        return this.#end(new SmtpError({ code: "EPROTOCOL", ...late }))
      }
    }
    this.close()
    return error
  }

  #command(line: string, expects: RegExp, command = line.split(" ", 1)[0]!, ms = this.#timeouts.replyMs) {
    const reply = this.#await(command, expects, ms)
    if (this.isOpen) this.#socket.write(`${line}\r\n`)
    return reply
  }

  #await(command: string, expects: RegExp, ms: number): Promise<SmtpReply> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(this.#error ?? disconnected())
      this.#awaited.push({ command, expects, ms, resolve, reject })
      if (this.#awaited.length === 1) this.#wait(command, ms)
    })
  }

  #wait(command: string, ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(new SmtpError({ code: "ETIMEDOUT", command })), ms)
  }

  #listen(): void {
    this.#socket.on("data", (bytes) => this.#receive(bytes))
    this.#socket.on("end", () => this.#end(disconnected()))
    this.#socket.on("error", (error) => this.#end(socketError(error)))
  }

  #receive(bytes: Buffer): void {
    if (!this.isOpen) return
    const { replies, isMalformed, isPartial } = this.#reader.read(bytes)
    const unasked = replies.length - this.#awaited.length
    if (!isMalformed && unasked <= 0 && !(unasked === 0 && isPartial)) {
      for (const reply of replies) this.#answer(reply)
      return
    }
    const [awaited] = this.#awaited
    const originalCode = String((!isMalformed && replies[this.#awaited.length]?.code) || "malformed")
    const [first, ...others] = replies
    // If a server repeats its reply to the message with the same code, it is trusted.
    if (awaited?.expects === TAKEN && first && others.every(({ code }) => code === first.code)) this.#answer(first)
    const command = awaited?.command ?? (this.isMessageBegun ? "DATA" : "CONN")
    this.#end(new SmtpError({ code: "EPROTOCOL", command, originalCode }))
  }

  #answer(reply: SmtpReply): void {
    const answered = this.#awaited.shift()
    if (answered === undefined) return
    const { command, expects, resolve, reject } = answered
    const [next] = this.#awaited
    if (next === undefined) clearTimeout(this.#timer)
    else this.#wait(next.command, next.ms)
    const code = String(reply.code)
    if (expects.test(code)) {
      resolve(reply)
      return
    }
    const isRefused = /^[45]/.test(code)
    const error = isRefused
      ? new SmtpError({ code: command.startsWith("AUTH") ? "EAUTH" : "EREPLY", command, reply })
      : new SmtpError({ code: "EPROTOCOL", command, originalCode: code })
    reject(error)
    // After 421, a server closes the connection (RFC 5321, 3.8).
    if (!isRefused || reply.code === 421) this.#end(error)
  }

  #end(error: SmtpError): Error {
    if (!this.isOpen) return error
    this.isOpen = false
    this.#error = error
    clearTimeout(this.#timer)
    for (const { reject } of this.#awaited.splice(0)) reject(error)
    this.#written()
    this.#socket.destroy()
    return error
  }
}

const defaultName = (): string => {
  const name = hostname()
  if (isIP(name) === 4) return `[${name}]`
  return name.includes(".") ? name : "[127.0.0.1]"
}

const disconnected = () => new SmtpError({ code: "ECONNECTION", command: "CONN" })
const socketError = (error: unknown) => {
  const { code = "unknown" } = error as NodeJS.ErrnoException
  return new SmtpError({ code: "ESOCKET", command: "CONN", originalCode: code })
}

const TAKEN = /^2/
const NOTHING = /^0$/
const BLOCK_LENGTH = 65_536
/** Time for the server to close the connection after QUIT. */
const QUIT_MS = 5000

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const openSocket = async ({ host = "localhost", port, secure }: SmtpOptions, connectMs: number): Promise<Socket> => {
  const socket = connect({
    host,
    port: Number(port) || (secure ? 465 : 587),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // Shared by a host's addresses, which are tried in turn.
    autoSelectFamilyAttemptTimeout: Math.ceil(connectMs / 4),
  })
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(connectMs) })
    return socket
  } catch (error) {
    socket.destroy()
    const isTimeout = (error as Error).name === "AbortError"
    throw isTimeout ? new SmtpError({ code: "ETIMEDOUT", command: "CONN" }) : socketError(error)
  }
}
