import { lookup } from "node:dns/promises"
import { isIP, type Socket } from "node:net"
import { Duplex } from "node:stream"
import type { ConnectionWatch } from "./ConnectionWatch.ts"
import {
  type DatabaseAddress,
  type DatabaseHost,
  isSuitable,
  isUnixSocket,
  type TargetSession,
} from "./DatabaseAddress.ts"
import type { DatabaseFault } from "./describeDatabaseError.ts"
import { MessageScanner, readField } from "./MessageScanner.ts"
import { openSocket, type Server } from "./openSocket.ts"
import { SocketError } from "./SocketError.ts"
import { LIFT_TIME_LIMIT } from "./sessionSettings.ts"
import { Refused, readParameter, startSession } from "./startSession.ts"

const CANCEL_REQUEST_CODE = 80_877_102
/** How long a connection that ends may take to say goodbye. */
const END_LIMIT_MS = 2000

/** What a connection is for: statements; the heartbeat; notifications; or something that may wait for as long as it likes. */
export type SocketRole = "pool" | "heartbeat" | "listener" | "session"

export interface SocketOptions {
  readonly address: DatabaseAddress
  readonly watch: ConnectionWatch
  readonly role: SocketRole
  /** How long it may take until a host accepts a session. Each that is left to try has an equal share of what is left of it. */
  readonly connectTimeoutMs: number
  /** How long a statement may wait for the next byte of its response. */
  readonly limitMs: number
}

const unsuitable = (target: TargetSession) =>
  new SocketError("NO_SUITABLE_HOST", `The server is not one that target_session_attrs=${target} takes`)

/**
 * The driver's stream: a connection to the first server of an address that accepts a session.
 *
 * It tries the hosts and negotiates TLS as the address says. It also reads the messages of the server, and ends when:
 *
 * - the server is not, or no longer, the one that the address asks for;
 * - a commit's wait for its standby was cancelled;
 * - the server is silent.
 *
 * The driver writes its first message once, and the stream sends it to each host. The driver may so be asked to authenticate
 * several times; it sees the rest of a session's start from the server that is taken.
 */
export class DatabaseSocket extends Duplex {
  readonly role: SocketRole
  /** How long a response may take. A connection that has lifted the server's limit has none. */
  limitMs: number
  /** When the last byte came, by `performance.now()`. */
  heardAt = 0
  /** Since when a response is waited for; undefined if none is. */
  waitingSince: number | undefined
  /** Whether a session is open. */
  isOpen = false
  /** The server, once the session is open. */
  server: Server | undefined
  /** The process and the secret of the session, as a CancelRequest names it. */
  key: Buffer | undefined
  private readonly options: SocketOptions
  private socket: Socket | undefined
  private first: Buffer | undefined
  private unanswered = 0
  private isInTransaction = false
  /** The prepared statements that commit, by their names: as such, or where no transaction is open. */
  private readonly writes = new Map<string, "commit" | "write">()
  /** Whether a response is waited for that would tell of a commit. */
  private mayCommit = false
  private parameters: Map<string, string> = new Map()
  /** The SQLSTATE for which the connection ends after its transaction. */
  private leavingFor: string | undefined
  private readonly scanner = new MessageScanner((kind, body) => this.onMessage(kind, body))

  constructor(options: SocketOptions) {
    super()
    this.options = options
    this.role = options.role
    this.limitMs = options.limitMs
    options.watch.add(this)
    const refusal = options.watch.refusalOf(this)
    if (refusal !== undefined) this.destroyFor(refusal)
  }

  /** Ends the connection because of what is known of the database. */
  destroyFor({ code, advice }: DatabaseFault): void {
    this.destroy(new SocketError(code, advice))
  }

  /** The number of the session's process at the server. */
  get processId(): number {
    return this.key?.readUInt32BE(0) ?? 0
  }

  destroySilent(): void {
    const since = this.waitingSince ?? this.heardAt
    const { watch } = this.options
    if (this.server !== undefined) {
      watch.noteHost(nameOf(this.server.host), false)
      watch.noteHost(nameOfServer(this.server), false)
    }
    this.destroy(this.lost(new SocketError("ETIMEDOUT", "The server was silent for too long")))
    if (this.role === "heartbeat") watch.heartbeatFailed(since, "silent")
  }

  override _read(): void {
    this.socket?.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.first === undefined) {
      this.first = chunk
      const startedAt = performance.now()
      this.open(chunk).catch((error: Error) => this.fail(error, startedAt))
      done()
      return
    }
    if (this.socket === undefined) {
      done(new SocketError("ECONNRESET", "The connection is closed"))
      return
    }
    if (this.isOpen) this.noteRequest(chunk)
    if (this.socket.write(chunk)) done()
    else this.socket.once("drain", () => done())
  }

  override _final(done: (error?: Error | null) => void): void {
    const { socket } = this
    socket?.end()
    const timer = setTimeout(() => socket?.destroy(), END_LIMIT_MS).unref()
    socket?.once("close", () => clearTimeout(timer))
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { watch } = this.options
    watch.remove(this)
    if (this.role === "heartbeat" && this.isOpen && !this.writableEnded) {
      watch.heartbeatFailed(performance.now(), "lost")
    }
    this.socket?.destroy()
    done(error)
  }

  /** Counts the replies that a request will have, and notes whether it may commit. `chunk` holds whole messages. */
  private noteRequest(chunk: Buffer): void {
    let replies = 0
    for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
      const kind = chunk[at]
      if (kind === SYNC || kind === QUERY) replies++
      if (kind === PARSE || kind === BIND || kind === CLOSE) {
        this.noteStatement(kind, chunk.subarray(at + 5, at + 1 + chunk.readUInt32BE(at + 1)))
      }
    }
    if (this.unanswered === 0 && replies > 0) this.waitingSince = performance.now()
    this.unanswered += replies
  }

  private noteStatement(kind: number, body: Buffer): void {
    // PARSE has the name and the text; BIND the portal and the name; CLOSE an S and the name.
    const end = body.indexOf(0)
    switch (kind) {
      case PARSE: {
        const text = body.toString("latin1", end + 1)
        if (text.includes(LIFT_TIME_LIMIT)) this.limitMs = Number.POSITIVE_INFINITY
        const kind = /^\s*commit\b/i.test(text)
          ? "commit"
          : /\b(?:insert|update|delete)\b/i.test(text)
            ? "write"
            : undefined
        if (kind === undefined) this.writes.delete(body.toString("latin1", 0, end))
        else this.writes.set(body.toString("latin1", 0, end), kind)
        return
      }
      case BIND: {
        const found = this.writes.get(body.toString("latin1", end + 1, body.indexOf(0, end + 1)))
        if (found === "commit" || (found === "write" && !this.isInTransaction)) this.mayCommit = true
        return
      }
      case CLOSE:
        this.writes.delete(body.toString("latin1", 1, end))
    }
  }

  /** Returns the error of a lost connection: what may have been committed says so, whatever the reason. */
  private lost(reason: Error | undefined): Error | undefined {
    if (!this.mayCommit || this.writableEnded) return reason
    return new SocketError("COMMIT_UNCERTAIN", "The connection was lost before a commit was confirmed")
  }

  /** Ends an attempt to connect that began at a time. */
  private fail(error: Error, startedAt: number): void {
    // The driver reads what the server said.
    if (error instanceof Refused) this.push(error.bytes)
    else this.destroy(error)
    if (this.role === "heartbeat" && (error as SocketError).code === "ETIMEDOUT") {
      this.options.watch.heartbeatFailed(startedAt, "silent")
    }
  }

  private async open(first: Buffer): Promise<void> {
    const { address, watch, connectTimeoutMs } = this.options
    if (first.length >= 8 && first.readUInt32BE(4) === CANCEL_REQUEST_CODE) return await this.cancel(first)
    const passes: ReadonlyArray<TargetSession> =
      address.targetSession === "prefer-standby" ? ["standby", "any"] : [address.targetSession]
    const attempts = passes.flatMap((target) =>
      inRandomOrder(address, watch.inOrder(address.hosts, nameOf)).map((host) => ({ host, target })),
    )
    await this.tryEach(attempts, connectTimeoutMs, async ({ host, target }, limitMs) => {
      try {
        await this.openHost(host, first, target, limitMs)
        watch.noteHost(nameOf(host), true)
      } catch (error) {
        watch.noteHost(nameOf(host), false)
        throw error
      }
    })
  }

  /** Tries items until one succeeds. Each has an equal share of the time that is left. */
  private async tryEach<Item>(
    items: ReadonlyArray<Item>,
    limitMs: number,
    attempt: (item: Item, limitMs: number) => Promise<void>,
  ): Promise<void> {
    const end = performance.now() + limitMs
    let failure: Error | undefined
    for (const [i, item] of items.entries()) {
      try {
        return await attempt(item, (end - performance.now()) / (items.length - i))
      } catch (error) {
        failure = worse(failure, error as Error)
        if (this.destroyed || !mayTryNext(error as Error)) throw error
      }
    }
    throw failure
  }

  private async openHost(host: DatabaseHost, first: Buffer, target: TargetSession, limitMs: number): Promise<void> {
    const { address, watch } = this.options
    const end = performance.now() + limitMs
    const servers = (await within(limitMs, addressesOf(host))).map((ip) => ({ host, ip }))
    const inOrder = inRandomOrder(address, watch.inOrder(servers, nameOfServer))
    await this.tryEach(inOrder, end - performance.now(), async (server, limitMs) => {
      try {
        await within(limitMs, this.openServer(server, first, target))
        watch.noteHost(nameOfServer(server), true)
      } catch (error) {
        this.socket?.destroy()
        this.socket = undefined
        watch.noteHost(nameOfServer(server), false)
        throw error
      }
    })
  }

  /** Opens a session at one server, and hands it to the driver. */
  private async openServer(server: Server, first: Buffer, target: TargetSession): Promise<void> {
    const socket = await this.connect(server)
    await startSession(
      socket,
      first,
      (message) => this.push(message),
      ({ bytes, key, parameters }) => {
        if (!isSuitable(target, parameters)) throw unsuitable(target)
        this.server = server
        this.key = key
        this.parameters = parameters
        this.start(socket, bytes)
      },
    )
  }

  private start(socket: Socket, bytes: Buffer): void {
    this.heardAt = performance.now()
    this.isOpen = true
    socket.on("data", (chunk: Buffer) => {
      this.heardAt = performance.now()
      if (this.waitingSince !== undefined) this.waitingSince = this.heardAt
      try {
        this.scanner.scan(chunk)
      } catch (error) {
        this.destroy(this.lost(error as Error))
      }
      if (!this.destroyed && !this.push(chunk)) socket.pause()
    })
    socket.on("end", () => this.push(null))
    socket.on("error", (error) => this.destroy(this.lost(error)))
    socket.on("close", () => this.destroy(this.lost(undefined)))
    this.push(bytes)
  }

  private onMessage(kind: string, body: Buffer): void {
    switch (kind) {
      case "S":
        readParameter(body, this.parameters)
        if (!isSuitable(this.options.address.targetSession, this.parameters)) this.leavingFor = "25006"
        return
      case "N":
        // The server reports success next, and the transaction may be on no other machine. Words are translated, names are not.
        if (readField(body, "R") === "SyncRepWaitForLSN") {
          this.destroy(new SocketError("COMMIT_UNCERTAIN", "A commit did not wait for its standby"))
        }
        return
      case "E":
        this.noteError(readField(body, "C") ?? "")
        return
      case "Z":
        this.unanswered = Math.max(0, this.unanswered - 1)
        if (this.unanswered === 0) {
          this.waitingSince = undefined
          this.mayCommit = false
        }
        this.isInTransaction = body[0] !== IDLE
        if (this.leavingFor === undefined || this.isInTransaction) return
        // After the driver has read how the statement failed.
        setImmediate(
          (code) => this.destroy(new SocketError(code, "The server is not, or no longer, the one to use")),
          this.leavingFor,
        )
    }
  }

  /** Lets the connection end if an error says that another server is the right one, or that this one goes away. */
  private noteError(code: string): void {
    const isLeaving =
      /^(?:25006|57P0.|08...)$/.test(code) ||
      // The driver itself repeats a statement whose plan is stale, unless it is in a transaction.
      (code === "0A000" && this.isInTransaction) ||
      // A standby cancels what conflicts with what it replays.
      (/^40(?:001|P01)$/.test(code) && this.parameters.get("in_hot_standby") === "on")
    if (isLeaving) this.leavingFor = code
  }

  private async connect(server: Server): Promise<Socket> {
    if (this.destroyed) throw new SocketError("ECONNRESET", "The connection is closed")
    return await openSocket(server, this.options.address, (socket) => {
      this.socket = socket
    })
  }

  /** Sends a CancelRequest to the server of the session that it names. */
  private async cancel(request: Buffer): Promise<void> {
    const { watch, connectTimeoutMs } = this.options
    const key = request.subarray(8)
    const server = [...watch.sockets].find((socket) => socket.key?.equals(key) === true)?.server
    if (server === undefined) return void this.destroy()
    const socket = await within(connectTimeoutMs, this.connect(server))
    socket.on("error", () => {}).on("close", () => this.destroy())
    socket.resume().write(request)
  }
}

const BIND = "B".charCodeAt(0)
const CLOSE = "C".charCodeAt(0)
const IDLE = "I".charCodeAt(0)
const PARSE = "P".charCodeAt(0)
const QUERY = "Q".charCodeAt(0)
const SYNC = "S".charCodeAt(0)

const nameOf = ({ host, hostAddress, port }: DatabaseHost): string => `${hostAddress ?? host}:${port}`

const nameOfServer = ({ host, ip }: Server): string => `${ip} ${host.port}`

const addressesOf = async (host: DatabaseHost): Promise<ReadonlyArray<string>> => {
  if (host.hostAddress !== undefined) return [host.hostAddress]
  if (isUnixSocket(host) || isIP(host.host) !== 0) return [host.host]
  return (await lookup(host.host, { all: true })).map(({ address }) => address)
}

const inRandomOrder = <Item>({ isLoadBalanced }: DatabaseAddress, items: ReadonlyArray<Item>): ReadonlyArray<Item> =>
  isLoadBalanced
    ? items
        .map((item) => [Math.random(), item] as const)
        .sort(([one], [other]) => one - other)
        .map(([, item]) => item)
    : items

/** Reports whether another host may take what this one did not. As in libpq, a refused password or database is final. */
const mayTryNext = (error: Error): boolean => !(error instanceof Refused) || /^57P0[123]$/.test(error.code)

/** Returns the failure to report: the last one, unless a server was there and not the one asked for. */
const worse = (failure: Error | undefined, next: Error): Error =>
  failure instanceof SocketError && failure.code === "NO_SUITABLE_HOST" ? failure : next

const within = async <A>(limitMs: number, promise: Promise<A>): Promise<A> => {
  if (limitMs === Number.POSITIVE_INFINITY) return await promise
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SocketError("ETIMEDOUT", "The server was silent for too long")), limitMs)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
