import { Semaphore } from "effect"
import type { DatabaseAddress } from "./DatabaseAddress.ts"
import type { DatabaseSocket } from "./DatabaseSocket.ts"
import { adviceOn, type DatabaseFault } from "./describeDatabaseError.ts"
import { Signal } from "./Signal.ts"

const TICK_MS = 1000
/** How long a failed host is tried after the other hosts. */
const AVOID_FAILED_HOST_MS = 30_000
/** Time limit of a heartbeat's response, and of connections after the heartbeat was lost. */
export const HEARTBEAT_LIMIT_MS = 5000
/** A connection that received data this long after an unanswered heartbeat isn't affected by the same silence. */
const HEARD_SINCE_MS = HEARTBEAT_LIMIT_MS / 2

const SILENT: DatabaseFault = { code: "ETIMEDOUT", advice: adviceOn("ETIMEDOUT") }
const COMMITS_WAIT: DatabaseFault = { code: "COMMITS_WAIT", advice: adviceOn("COMMITS_WAIT") }

/**
 * Monitors a process's connections to one address, and destroys dead ones.
 *
 * TCP can't distinguish a vanished peer from a slow one. So one connection, the heartbeat, sends a fast statement; when it is
 * silent, so are all connections that received no data since.
 *
 * While the heartbeat can't reach a server, only it tries to connect: pools don't open connections, so requests for one fail immediately.
 */
export class ConnectionWatch {
  private static readonly all = new WeakMap<DatabaseAddress, ConnectionWatch>()

  /** Returns the watch of an address, shared by all pools of the process. */
  static of(address: DatabaseAddress): ConnectionWatch {
    const existing = ConnectionWatch.all.get(address)
    if (existing !== undefined) return existing
    const created = new ConnectionWatch(/^(?:primary|read-write)$/.test(address.targetSession))
    ConnectionWatch.all.set(address, created)
    return created
  }

  /** Held by the fiber that sends the heartbeat for all pools. */
  readonly heartbeat = Semaphore.makeUnsafe(1)
  /** Raised when an outage starts and when it ends. */
  readonly changes = new Signal()
  readonly sockets = new Set<DatabaseSocket>()
  private readonly failedAt = new Map<string, number>()
  private timer: NodeJS.Timeout | undefined
  private tickedAt = 0
  private heartbeatLostAt: number | undefined
  /** Reason why the heartbeat can't reach a server. */
  private unreachable: DatabaseFault | undefined
  /** Whether commits wait for a synchronous standby. */
  private commitsWait = false
  /** Whether all sessions must belong to the same server. */
  private readonly hasOneServer: boolean

  private constructor(hasOneServer: boolean) {
    this.hasOneServer = hasOneServer
  }

  /** Reason why the pools don't open connections; undefined if they do. */
  get outage(): DatabaseFault | undefined {
    return this.unreachable ?? (this.commitsWait ? COMMITS_WAIT : undefined)
  }

  /** Returns the reason why a connection of this role must not be opened or used now. */
  refusalOf({ role }: Pick<DatabaseSocket, "role">): DatabaseFault | undefined {
    if (role === "heartbeat") return undefined
    return role === "pool" ? this.outage : this.unreachable
  }

  add(socket: DatabaseSocket): void {
    this.sockets.add(socket)
    if (this.timer !== undefined) return
    this.tickedAt = performance.now()
    this.timer = setInterval(() => this.tick(), TICK_MS).unref()
  }

  remove(socket: DatabaseSocket): void {
    this.sockets.delete(socket)
    if (this.sockets.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
    this.heartbeatLostAt = undefined
  }

  noteHost(host: string, served: boolean): void {
    if (served) this.failedAt.delete(host)
    else this.failedAt.set(host, performance.now())
  }

  /** Moves recently failed items to the end; otherwise keeps the order. */
  inOrder<Item>(items: ReadonlyArray<Item>, nameOf: (item: Item) => string): ReadonlyArray<Item> {
    const since = performance.now() - AVOID_FAILED_HOST_MS
    const failed = (item: Item) => Number((this.failedAt.get(nameOf(item)) ?? Number.NEGATIVE_INFINITY) > since)
    return items.toSorted((one, other) => failed(one) - failed(other))
  }

  /**
   * Notes that the heartbeat received no response since a time, or that its connection was lost then.
   *
   * After a silence, the other connections are considered silent too. After a loss, they have a heartbeat's limit to prove that they
   * aren't: the next heartbeat may reach a different server.
   */
  heartbeatFailed(at: number, cause: "silent" | "lost"): void {
    if (cause === "lost") {
      this.heartbeatLostAt = at
      return
    }
    const since = at + HEARD_SINCE_MS
    if (!this.hasOpen((socket) => socket.heardAt >= since)) this.beginOutage(SILENT)
    this.destroySilentSince(since)
  }

  /** Notes that the heartbeat couldn't connect. A server that only rejects further connections still serves open ones. */
  connectFailed(fault: DatabaseFault): void {
    if (!this.hasOpen(() => true)) this.beginOutage(fault)
  }

  /** Notes that a server responded to the heartbeat. */
  noteReached(): void {
    this.note(() => {
      this.unreachable = undefined
    })
  }

  /**
   * Notes whether commits wait for a synchronous standby.
   *
   * A session with a waiting commit keeps its locks on the server after its connection closes. So the pools are closed, and open no
   * connections until the standby is back.
   */
  noteCommits(wait: boolean): void {
    const begins = wait && !this.commitsWait
    this.note(() => {
      this.commitsWait = wait
    })
    if (begins) for (const socket of [...this.sockets]) if (socket.role === "pool") socket.destroyFor(COMMITS_WAIT)
  }

  private hasOpen(isMeant: (socket: DatabaseSocket) => boolean): boolean {
    return [...this.sockets].some((socket) => socket.isOpen && isMeant(socket))
  }

  /** Aborts connection attempts, and lets only the heartbeat connect. */
  private beginOutage(fault: DatabaseFault): void {
    this.note(() => {
      this.unreachable = fault
    })
    for (const socket of [...this.sockets]) {
      if (!socket.isOpen && socket.role !== "heartbeat") socket.destroyFor(fault)
    }
  }

  private note(change: () => void): void {
    const before = this.outage
    change()
    if ((before === undefined) !== (this.outage === undefined)) this.changes.raise()
  }

  /** Returns the open sessions that the heartbeat's server must know. */
  sessionsOfServer(): ReadonlyArray<DatabaseSocket> {
    const open = [...this.sockets].filter(({ isOpen }) => isOpen)
    const reached = open.find(({ role }) => role === "heartbeat")?.server
    return open.filter(
      ({ role, server }) =>
        role !== "heartbeat" &&
        (this.hasOneServer || (server?.ip === reached?.ip && server?.host.port === reached?.host.port)),
    )
  }

  private destroySilentSince(time: number): void {
    for (const socket of [...this.sockets]) if (socket.isOpen && socket.heardAt < time) socket.destroySilent()
  }

  private tick(): void {
    const now = performance.now()
    const late = now - this.tickedAt - TICK_MS
    this.tickedAt = now
    // A suspended process hasn't read its received data yet.
    if (late > TICK_MS) return
    for (const socket of [...this.sockets]) {
      if (socket.waitingSince !== undefined && now - socket.waitingSince > socket.limitMs) socket.destroySilent()
    }
    if (this.heartbeatLostAt !== undefined && now - this.heartbeatLostAt > HEARTBEAT_LIMIT_MS) {
      this.destroySilentSince(this.heartbeatLostAt)
      this.heartbeatLostAt = undefined
    }
  }
}
