import { connect, type Socket } from "node:net"
import type { Readable } from "node:stream"
import { isAscii } from "@outreach/domain/DomainName"
import SMTPConnection, {
  type SMTPConnectionAuth,
  type SMTPConnectionOptions,
  type SMTPEnvelope,
} from "nodemailer/lib/smtp-connection"

/** How long each step of a session may take, in milliseconds. */
export interface SmtpTimeouts {
  readonly connectMs: number
  /** The greeting, a TLS handshake, and the reply to any command but DATA. */
  readonly replyMs: number
  /** The reply to DATA. */
  readonly dataMs: number
  /** Each block of the message. */
  readonly blockMs: number
  /** The reply to the dot that ends the message. */
  readonly finalMs: number
}

export type SmtpOptions = SMTPConnectionOptions & { readonly auth?: SMTPConnectionAuth; readonly forceAuth?: boolean }

/** A connection to an SMTP server, each step of which has a timeout of its own; nodemailer speaks the protocol. */
export class SmtpSession {
  isOpen = true
  sentMessages = 0
  /** The whole of the message under way was sent, and its reply is awaited. */
  isMessageSent = false
  readonly #connection: SMTPConnection
  readonly #timeouts: SmtpTimeouts
  #offersSmtpUtf8 = false
  /** The commands whose replies are awaited, the oldest first. */
  #awaited: string[] = []
  #timer: NodeJS.Timeout | undefined
  #fail: (error: unknown) => void = () => {}

  /** Connects, secures the connection and logs in, as the options say. */
  static async open(options: SmtpOptions, timeouts: SmtpTimeouts): Promise<SmtpSession> {
    const session = new SmtpSession(await openSocket(options, timeouts.connectMs), options, timeouts)
    await session.#run((done) => session.#connection.connect(done))
    const { auth } = options
    if (auth && (session.#connection.allowsAuth || options.forceAuth)) {
      await session.#run((done) => session.#connection.login({ ...auth }, done))
    }
    return session
  }

  private constructor(socket: Socket, options: SmtpOptions, timeouts: SmtpTimeouts) {
    this.#timeouts = timeouts
    this.#connection = new SMTPConnection({
      ...options,
      connection: socket,
      // nodemailer has no timeout for a single command: its log of the transaction tells when each is sent and answered.
      transactionLog: true,
      logger: { debug: (entry: { tnx?: unknown }, text: unknown) => this.#watch(entry.tnx, String(text)) },
      greetingTimeout: timeouts.replyMs,
      // TLS, the greeting and STARTTLS.
      connectionTimeout: 3 * timeouts.replyMs,
      // Above every timeout of ours, each of which ends earlier.
      socketTimeout: timeouts.finalMs + timeouts.replyMs,
    })
    this.#connection.on("error", (error) => this.#end(error))
    this.#connection.on("end", () => this.#end(new SmtpError("ECONNECTION", "CONN")))
  }

  get isLoggedIn(): boolean {
    return this.#connection.authenticated
  }

  get isEncrypted(): boolean {
    return this.#connection.secure
  }

  /**
   * Sends a message and returns the server's reply. Rejects with nodemailer's error, and with ESMTPUTF8 if an address needs what the server
   * does not offer (RFC 6531 3.2): nodemailer would send it all the same.
   *
   * `isHeld` is asked before its first byte goes, and a false ends the session.
   */
  async send(envelope: SMTPEnvelope, message: Readable, isHeld: () => boolean): Promise<string> {
    this.isMessageSent = false
    if (!this.#offersSmtpUtf8 && !isAscii(JSON.stringify([envelope.from, envelope.to]))) {
      message.destroy()
      throw new SmtpError("ESMTPUTF8", "MAIL FROM")
    }
    message.once("resume", () => {
      if (!isHeld()) return this.#end(new SmtpError("ELEASE", "DATA"))
      this.#await("DATA", this.#timeouts.blockMs)
      message.on("data", () => this.#await("DATA", this.#timeouts.blockMs))
    })
    message.once("end", () => {
      this.isMessageSent = true
      this.#await("DATA", this.#timeouts.finalMs)
    })
    const { response } = await this.#run<{ response: string }>((done) => this.#connection.send(envelope, message, done))
    this.isMessageSent = false
    this.sentMessages += 1
    return response
  }

  /** Creates the session ready for another message after one was refused. */
  reset(): Promise<unknown> {
    return this.#run((done) => this.#connection.reset(done))
  }

  close(): void {
    this.#end(new SmtpError("ECONNECTION", "CONN"))
  }

  quit(): void {
    this.isOpen = false
    this.#connection.quit()
  }

  #run<A>(start: (done: (error?: unknown, result?: A) => void) => void): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#fail = reject
      if (!this.isOpen) return reject(new SmtpError("ECONNECTION", "CONN"))
      start((error, result) => (error ? reject(error) : resolve(result as A)))
    })
  }

  #end(error: unknown): void {
    this.isOpen = false
    clearTimeout(this.#timer)
    // Before the connection is closed, which is told as an end of its own.
    this.#fail(error)
    this.#connection.close()
  }

  #watch(direction: unknown, text: string): void {
    if (direction === "client") {
      this.#awaited.push(COMMANDS.find((command) => text.startsWith(command)) ?? "AUTH")
      if (this.#awaited.length > 1) return
    } else if (direction === "server") {
      const answered = this.#awaited.shift()
      if (answered === "EHLO") this.#offersSmtpUtf8 = /^250[ -]SMTPUTF8\b/im.test(text)
    } else return
    const [command] = this.#awaited
    if (command === undefined) clearTimeout(this.#timer)
    else this.#await(command, command === "DATA" ? this.#timeouts.dataMs : this.#timeouts.replyMs)
  }

  #await(command: string, ms: number): void {
    clearTimeout(this.#timer)
    if (this.isOpen) this.#timer = setTimeout(() => this.#end(new SmtpError("ETIMEDOUT", command)), ms)
  }
}

const COMMANDS = ["EHLO", "HELO", "STARTTLS", "AUTH", "MAIL FROM", "RCPT TO", "DATA", "RSET", "QUIT"]

/** A failure that no reply tells of, in nodemailer's form. */
class SmtpError extends Error {
  readonly code: string
  readonly command: string
  constructor(code: string, command: string) {
    super(`${code} at ${command}`)
    this.code = code
    this.command = command
  }
}

const openSocket = ({ host = "localhost", port, secure, localAddress }: SmtpOptions, connectMs: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port) || (secure ? 465 : 587),
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
