import { createHmac } from "node:crypto"
import { connect, isIP, type Socket } from "node:net"
import { hostname } from "node:os"
import { setImmediate } from "node:timers/promises"
import { type ConnectionOptions, connect as connectTls } from "node:tls"
import { isAscii } from "@outreach/domain/DomainName"
import { encodeXText } from "nodemailer/lib/shared"
import { SmtpError } from "./SmtpError.ts"
import { type SmtpReply, SmtpReplyReader } from "./SmtpReplyReader.ts"

/** How long each step of a session may take, in milliseconds. */
export interface SmtpTimeouts {
  readonly connectMs: number
  /** The greeting, a TLS handshake, and the reply to any command but DATA. */
  readonly replyMs: number
  readonly dataMs: number
  readonly blockMs: number
  /** The reply to the dot that ends the message. */
  readonly finalMs: number
}

/** How a server is reached, as nodemailer reads it from an address. */
export interface SmtpOptions {
  /** Default `localhost`. */
  readonly host?: string
  /** Default 465 with `secure`, otherwise 587. */
  readonly port?: number | string
  /** Uses TLS from the start. */
  readonly secure?: boolean
  /** Fails where the server offers no STARTTLS. */
  readonly requireTLS?: boolean
  /** Uses no STARTTLS, though the server offers it. */
  readonly ignoreTLS?: boolean
  readonly tls?: ConnectionOptions
  readonly localAddress?: string
  /** What we call ourselves. Default: the name of this machine. */
  readonly name?: string
  readonly auth?: { readonly user?: string; readonly pass?: string }
  /** Logs in, though the server does not offer it. */
  readonly forceAuth?: boolean
}

export interface SmtpEnvelope {
  readonly from: string
  readonly to: string
}

interface Awaited {
  readonly command: string
  /** The codes of success. Every command may be refused, with 4xx or 5xx. */
  readonly expects: RegExp
  readonly ms: number
  readonly resolve: (reply: SmtpReply) => void
  readonly reject: (error: SmtpError) => void
}

/**
 * A connection to an SMTP server, each step of which has a timeout of its own.
 *
 * A reply that is not well-formed, or that nothing was waiting for, ends the session: a later command would take another's reply for its own.
 */
export class SmtpSession {
  isOpen = true
  isLoggedIn = false
  isEncrypted = false
  sentMessages = 0
  /** A part of the message under way may have been sent. */
  isMessageBegun = false
  /** The dot that ends the message under way may have been sent, and its reply was awaited. */
  isMessageSent = false
  readonly #options: SmtpOptions
  readonly #timeouts: SmtpTimeouts
  #socket: Socket
  #reader = new SmtpReplyReader()
  /** The extensions that the server offers, with their parameters. */
  #extensions: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
  #hello = "EHLO"
  /** The first word of each line that the server said hello with: its own name, and its extensions. */
  #words: ReadonlySet<string> = new Set()
  /** The oldest first. */
  #awaited: Awaited[] = []
  #timer: NodeJS.Timeout | undefined
  #error: SmtpError | undefined
  /** How many refusals were confirmed. */
  #confirmed = 0
  /** Ends the wait for a block to be written. */
  #written = () => {}

  /** Connects, secures the connection and logs in, as the options say. */
  static async open(options: SmtpOptions, timeouts: SmtpTimeouts): Promise<SmtpSession> {
    const session = new SmtpSession(await openSocket(options, timeouts.connectMs), options, timeouts)
    try {
      await session.#start()
      return session
    } catch (error) {
      session.close()
      throw error
    }
  }

  private constructor(socket: Socket, options: SmtpOptions, timeouts: SmtpTimeouts) {
    this.#options = options
    this.#timeouts = timeouts
    this.#socket = socket
    this.#listen()
  }

  /**
   * Sends a message and returns the server's reply. Rejects with an `SmtpError`: with ESMTPUTF8 if an address needs what the server does not
   * offer (RFC 6531 3.2). A session that is open then is ready for another message.
   *
   * `isHeld` is asked before its first byte goes, and a false ends the session.
   */
  async send({ from, to }: SmtpEnvelope, message: Buffer, isHeld: () => boolean): Promise<string> {
    this.isMessageBegun = false
    this.isMessageSent = false
    try {
      await this.#begin(from, to)
      if (!isHeld()) throw this.#end(new SmtpError("ELEASE", "DATA"))
      await this.#write(message)
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
    this.#end(new SmtpError("ECONNECTION", "CONN"))
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

  async #start(): Promise<void> {
    const { secure = false, requireTLS = false, ignoreTLS = false, auth, forceAuth = false } = this.#options
    const { replyMs } = this.#timeouts
    if (secure) await this.#secure()
    await this.#await("CONN", /^220/, replyMs)
    await this.#sayHello()
    const offersTls = this.#extensions.has("STARTTLS")
    if (!secure && requireTLS && !offersTls) throw new SmtpError("ETLS", "STARTTLS")
    if (!secure && offersTls && (requireTLS || !ignoreTLS)) {
      await this.#command("STARTTLS", /^220/)
      await this.#secure()
      // What was said in plain text counts no more (RFC 3207 4.2).
      await this.#sayHello()
    }
    if (auth && (this.#extensions.has("AUTH") || this.#hello === "HELO" || forceAuth)) await this.#logIn(auth)
  }

  async #secure(): Promise<void> {
    const { host = "localhost", tls } = this.#options
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

  async #sayHello(): Promise<void> {
    let reply: SmtpReply
    try {
      reply = await this.#command(`EHLO ${this.name}`, HELLO)
    } catch (error) {
      const { responseCode } = error as SmtpError
      if (responseCode === undefined || responseCode < 500) throw error
      this.#hello = "HELO"
      reply = await this.#command(`HELO ${this.name}`, HELLO)
    }
    const lines = wordsOf(reply)
    this.#words = new Set(lines.map(([word]) => word!))
    this.#extensions = new Map(lines.slice(1).map(([keyword, ...parameters]) => [keyword!, parameters]))
  }

  async #logIn({ user, pass }: NonNullable<SmtpOptions["auth"]>): Promise<void> {
    if (!user || !pass) throw new SmtpError("EAUTH", "API")
    const offered = this.#extensions.get("AUTH") ?? []
    const method = ["PLAIN", "LOGIN", "CRAM-MD5"].find((each) => offered.includes(each)) ?? "PLAIN"
    const say = (text: string, expects: RegExp) => this.#command(text, expects, `AUTH ${method}`)
    if (method === "PLAIN") await say(`AUTH PLAIN ${base64(`\0${user}\0${pass}`)}`, /^235/)
    else {
      const { text } = await say(`AUTH ${method}`, /^334/)
      if (method === "LOGIN") {
        await say(base64(user), /^334/)
        await say(base64(pass), /^235/)
      } else {
        const challenge = Buffer.from(text.slice(4), "base64")
        await say(base64(`${user} ${createHmac("md5", pass).update(challenge).digest("hex")}`), /^235/)
      }
    }
    this.isLoggedIn = true
  }

  /** Names the sender and the recipient, until the server asks for the message itself. */
  async #begin(from: string, to: string): Promise<void> {
    if (!this.isOpen) throw this.#error ?? new SmtpError("ECONNECTION", "CONN")
    for (const address of [from, to]) if (!/^[^\r\n<>]+$/.test(address)) throw new SmtpError("EENVELOPE", "API")
    const isInternational = !isAscii(from + to)
    if (isInternational && !this.#extensions.has("SMTPUTF8")) throw new SmtpError("ESMTPUTF8", "MAIL FROM")
    const offersDsn = this.#extensions.has("DSN")
    // Those who relay are asked for failures alone, and for no copy of the message (RFC 3461).
    const sender = `MAIL FROM:<${from}>${isInternational ? " SMTPUTF8" : ""}${offersDsn ? " RET=HDRS" : ""}`
    // Another form holds other letters (RFC 6533 3).
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
    // All at once saves two round trips (RFC 2920).
    this.#socket.cork()
    const replies = Promise.allSettled(commands.map((command) => command()))
    this.#socket.uncork()
    const [mail, rcpt, data] = await replies
    const refused = [mail, rcpt, data].find((reply) => reply?.status === "rejected")
    if (refused?.status !== "rejected") return
    // A reply that was not expected casts doubt on those before it.
    if (this.#error?.code === "EPROTOCOL") throw this.#error
    // A server that wants the message all the same would take the next command for its text.
    if (data?.status === "fulfilled") this.close()
    throw refused.reason
  }

  /** Writes a message, and the dot that ends it once everything before is out of our hands. */
  async #write(message: Buffer): Promise<void> {
    this.isMessageBegun = true
    const text = message.toString("latin1")
    // Another line end would be taken for one by some servers (SMTP smuggling).
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
    // Before the dot nothing was delivered, so that the system is asked once more whether the server is there.
    await setImmediate()
    if (!this.isOpen) throw this.#error
    this.isMessageSent = true
    this.#socket.write(".\r\n")
  }

  /**
   * Returns the error, or EPROTOCOL if the reply may belong to another command. A second EHLO resets the session like RSET, and its reply repeats
   * words of the first. A server may reject it or change its words (RFC 5321 4.1.4). Then 221 decides, because only QUIT gets that reply.
   */
  async #confirm(error: SmtpError): Promise<SmtpError> {
    if (error.responseCode === undefined || !this.isOpen) return error
    try {
      const reply = await this.#command(`${this.#hello} ${this.name}`, /^(250|[45])/)
      if (reply.code === 250 && wordsOf(reply).some(([word]) => this.#words.has(word!))) {
        this.#confirmed += 1
        if (this.#confirmed === MAX_CONFIRMED) this.quit()
        return error
      }
      await this.#command("QUIT", /^221/, "QUIT", QUIT_MS)
    } catch (failure) {
      const { code, responseCode, originalCode = "malformed" } = failure as SmtpError
      if (code === "EPROTOCOL" || (responseCode !== undefined && responseCode !== 421)) {
        return this.#end(
          new SmtpError("EPROTOCOL", error.command, { originalCode: String(responseCode ?? originalCode) }),
        )
      }
    }
    // A server that closes the connection or stays silent has sent no other reply either.
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
      if (!this.isOpen) return reject(this.#error ?? new SmtpError("ECONNECTION", "CONN"))
      this.#awaited.push({ command, expects, ms, resolve, reject })
      if (this.#awaited.length === 1) this.#wait(command, ms)
    })
  }

  #wait(command: string, ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(new SmtpError("ETIMEDOUT", command)), ms)
  }

  #listen(): void {
    this.#socket.on("data", (bytes) => this.#receive(bytes))
    this.#socket.on("end", () => this.#end(new SmtpError("ECONNECTION", "CONN")))
    this.#socket.on("error", ({ code = "unknown" }: NodeJS.ErrnoException) =>
      this.#end(new SmtpError("ESOCKET", "CONN", { originalCode: code })),
    )
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
    // A server that says twice that a message is taken, or twice that it is not, is believed.
    if (awaited?.expects === TAKEN && first && others.every(({ code }) => code === first.code)) this.#answer(first)
    const command = awaited?.command ?? (this.isMessageBegun ? "DATA" : "CONN")
    this.#end(new SmtpError("EPROTOCOL", command, { originalCode }))
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
      ? new SmtpError(command.startsWith("AUTH") ? "EAUTH" : "EREPLY", command, { reply })
      : new SmtpError("EPROTOCOL", command, { originalCode: code })
    reject(error)
    // After 421 a server hangs up (RFC 5321 3.8).
    if (!isRefused || reply.code === 421) this.#end(error)
  }

  #end(error: SmtpError): SmtpError {
    if (!this.isOpen) return error
    this.isOpen = false
    this.#error = error
    clearTimeout(this.#timer)
    for (const { reject } of this.#awaited.splice(0)) reject(error)
    this.#written()
    this.#socket.destroy()
    return error
  }

  /** The address that the connection comes from; empty once it is closed. */
  get localAddress(): string {
    return this.#socket.localAddress ?? ""
  }

  /** The name that we greet the server with. */
  get name(): string {
    if (this.#options.name !== undefined) return this.#options.name
    const name = hostname()
    if (isIP(name) === 4) return `[${name}]`
    return name.includes(".") ? name : "[127.0.0.1]"
  }
}

const HELLO = /^250/
const TAKEN = /^2/
const NOTHING = /^0$/
const BLOCK_LENGTH = 65_536
/** Exim hangs up after ten commands that are not of a message, of which a second EHLO is one. */
const MAX_CONFIRMED = 8
/** How long the server has to hang up after QUIT. */
const QUIT_MS = 5000

const base64 = (text: string): string => Buffer.from(text).toString("base64")

/** Returns the words of each line of a reply to EHLO. Some old servers write `AUTH=PLAIN`. */
const wordsOf = ({ text }: SmtpReply): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").map((line) => line.slice(4).toUpperCase().split(/[ =]+/))

const openSocket = ({ host = "localhost", port, secure, localAddress }: SmtpOptions, connectMs: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port) || (secure ? 465 : 587),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      ...(localAddress !== undefined && { localAddress }),
      // Shared by the addresses of a host that are tried in turn.
      autoSelectFamilyAttemptTimeout: Math.ceil(connectMs / 4),
    })
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(Object.assign(error, { command: "CONN" }))
    }
    const timer = setTimeout(() => fail(new SmtpError("ETIMEDOUT", "CONN")), connectMs)
    socket.once("error", fail)
    socket.once("connect", () => {
      clearTimeout(timer)
      socket.removeListener("error", fail)
      resolve(socket)
    })
  })
