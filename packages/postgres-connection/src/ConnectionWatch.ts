import { Semaphore } from "effect"
import type { DatabaseAddress } from "./DatabaseAddress.ts"
import type { DatabaseSocket } from "./DatabaseSocket.ts"
import { adviceOn, type DatabaseFault } from "./describeDatabaseError.ts"
import { Signal } from "./Signal.ts"

const TICK_MS = 1000
/** How long a host that failed is tried after the others. */
const AVOID_FAILED_HOST_MS = 30_000
/** How long the heartbeat may wait for a response, and connections after it was lost. */
export const HEARTBEAT_LIMIT_MS = 5000
/** A connection that heard something so long after a heartbeat was sent, which had no response, does not lead to the same silence. */
const HEARD_SINCE_MS = HEARTBEAT_LIMIT_MS / 2

const SILENT: DatabaseFault = { code: "ETIMEDOUT", advice: adviceOn("ETIMEDOUT") }
const COMMITS_WAIT: DatabaseFault = { code: "COMMITS_WAIT", advice: adviceOn("COMMITS_WAIT") }

/**
 * Watches the connections of a process to one address, and destroys those that lead nowhere.
 *
 * TCP does not tell: a peer that is gone without a word looks like one that thinks. So one connection, the heartbeat, asks for
 * something that is always quick; when it is silent, so is every connection that heard nothing since.
 *
 * While the heartbeat finds no server, it alone tries to connect: the pools open nothing, so what asks for a connection fails at once.
 */
export class ConnectionWatch {
  private static readonly all = new WeakMap<DatabaseAddress, ConnectionWatch>()

  /** Returns the watch of an address, one for all pools of the process. */
  static of(address: DatabaseAddress): ConnectionWatch {
    const existing = ConnectionWatch.all.get(address)
    if (existing !== undefined) return existing
    const created = new ConnectionWatch(/^(?:primary|read-write)$/.test(address.targetSession))
    ConnectionWatch.all.set(address, created)
    return created
  }

  /** Held by the fiber that sends the heartbeat, one for all pools. */
  readonly heartbeat = Semaphore.makeUnsafe(1)
  /** Raised when an outage begins, and when it ends. */
  readonly changes = new Signal()
  readonly sockets = new Set<DatabaseSocket>()
  private readonly failedAt = new Map<string, number>()
  private timer: NodeJS.Timeout | undefined
  private tickedAt = 0
  private heartbeatLostAt: number | undefined
  /** Why the heartbeat reaches no server. */
  private unreachable: DatabaseFault | undefined
  /** Whether commits wait for a synchronous standby. */
  private commitsWait = false
  /** Whether every session has to be one of the same server. */
  private readonly hasOneServer: boolean

  private constructor(hasOneServer: boolean) {
    this.hasOneServer = hasOneServer
  }

  /** Why the pools open no connection; undefined while they do. */
  get outage(): DatabaseFault | undefined {
    return this.unreachable ?? (this.commitsWait ? COMMITS_WAIT : undefined)
  }

  /** Returns why a connection of this role must not be opened, or used, now. */
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

  /** Puts what failed a short time ago last, and keeps the order otherwise. */
  inOrder<Item>(items: ReadonlyArray<Item>, nameOf: (item: Item) => string): ReadonlyArray<Item> {
    const since = performance.now() - AVOID_FAILED_HOST_MS
    const failed = (item: Item) => Number((this.failedAt.get(nameOf(item)) ?? Number.NEGATIVE_INFINITY) > since)
    return items.toSorted((one, other) => failed(one) - failed(other))
  }

  /**
   * Notes that the heartbeat had no response since a time, or that its connection was lost at it.
   *
   * After a silence the other connections are silent too. After a loss they have as long as the heartbeat has to prove that they
   * are not: the next heartbeat may reach another server than they.
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

  /** Notes that the heartbeat could not connect. A server that only takes no further connection still serves those that are open. */
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
   * Notes that commits wait for a synchronous standby, or that they do not.
   *
   * A session whose commit waits stays in the server when its connection ends, with its locks. So the pools are closed, and no new connection
   * adds to these sessions until the standby is back.
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

  /** Ends what is about to connect, and lets nothing but the heartbeat connect. */
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

  /** Returns the open sessions that the server of the heartbeat must know. */
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
    // A process that stood still has not read what came meanwhile.
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
