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
import { openSocket, type Server } from "./openSocket.ts"
import { SessionTracker } from "./SessionTracker.ts"
import { SocketError } from "./SocketError.ts"
import { Refused, startSession } from "./startSession.ts"

const CANCEL_REQUEST_CODE = 80_877_102
/** Time limit of a graceful close. */
const END_LIMIT_MS = 2000

/** Use of a connection: statements, heartbeat, notifications, or a session without time limits. */
export type SocketRole = "pool" | "heartbeat" | "listener" | "session"

export interface SocketOptions {
  readonly address: DatabaseAddress
  readonly watch: ConnectionWatch
  readonly role: SocketRole
  /** Time limit until a host accepts a session. The remaining hosts share the remaining time equally. */
  readonly connectTimeoutMs: number
  /** How long a statement may wait for the next byte of its response. */
  readonly limitMs: number
}

const unsuitable = (target: TargetSession) =>
  new SocketError("NO_SUITABLE_HOST", `The server is not one that target_session_attrs=${target} takes`)

/**
 * The driver's stream: a connection to the first server of an address that accepts a session.
 *
 * Tries the hosts and negotiates TLS. Also follows the session, and closes if:
 *
 * - the server isn't, or is no longer, the kind that the address requires;
 * - a commit's wait for its standby was cancelled;
 * - the server is silent.
 *
 * The driver writes its first message once, and the stream sends it to each host. So the driver may authenticate
 * several times; it receives the rest of the session start from the accepted server.
 */
export class DatabaseSocket extends Duplex {
  readonly role: SocketRole
  /** Time of the last received byte, by `performance.now()`. */
  heardAt = 0
  /** The server of an open session. */
  server: Server | undefined
  /** Process id and secret of the session, as in a CancelRequest. */
  key: Buffer | undefined
  private readonly options: SocketOptions
  private socket: Socket | undefined
  private first: Buffer | undefined
  /** Undefined until a session is open. */
  private session: SessionTracker | undefined

  constructor(options: SocketOptions) {
    super()
    this.options = options
    this.role = options.role
    options.watch.add(this)
    const refusal = options.watch.refusalOf(this)
    if (refusal !== undefined) this.destroyFor(refusal)
  }

  /** Closes the connection because of a known fault. */
  destroyFor({ code, advice }: DatabaseFault): void {
    this.destroy(new SocketError(code, advice))
  }

  get isOpen(): boolean {
    return this.session !== undefined
  }

  /** Start of the wait for a response; undefined if there is none. */
  get waitingSince(): number | undefined {
    return this.session?.waitingSince
  }

  /** Time limit of a response; infinite for a connection that disabled the server's limit. */
  get limitMs(): number {
    return this.session?.hasLiftedLimit ? Number.POSITIVE_INFINITY : this.options.limitMs
  }

  /** Process id of the session on the server. */
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
    this.session?.noteRequest(chunk)
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

  /** Returns the error of a lost connection; it mentions a possible commit, regardless of the reason. */
  private lost(reason: Error | undefined): Error | undefined {
    if (!this.session?.mayCommit || this.writableEnded) return reason
    return new SocketError("COMMIT_UNCERTAIN", "The connection was lost before a commit was confirmed")
  }

  /** Ends a connection attempt. */
  private fail(error: Error, startedAt: number): void {
    // The driver parses the server's message.
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

  /** Tries items until one succeeds. Each has an equal share of the remaining time. */
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

  /** Opens a session on one server, and passes it to the driver. */
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
        const end = (code: string, message: string) => void this.destroy(new SocketError(code, message))
        this.session = new SessionTracker(this.options.address.targetSession, parameters, end)
        this.start(socket, this.session, bytes)
      },
    )
  }

  private start(socket: Socket, session: SessionTracker, bytes: Buffer): void {
    this.heardAt = performance.now()
    socket.on("data", (chunk: Buffer) => {
      this.heardAt = performance.now()
      try {
        session.noteResponse(chunk, this.heardAt)
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

  private async connect(server: Server): Promise<Socket> {
    if (this.destroyed) throw new SocketError("ECONNRESET", "The connection is closed")
    return await openSocket(server, this.options.address, (socket) => {
      this.socket = socket
    })
  }

  /** Sends a CancelRequest to the session's server. */
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

/** Returns whether to try another host. As in libpq, a rejected password or database is final. */
const mayTryNext = (error: Error): boolean => !(error instanceof Refused) || /^57P0[123]$/.test(error.code)

/** Returns the failure to report: the last one, unless a server of the wrong kind was found. */
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
