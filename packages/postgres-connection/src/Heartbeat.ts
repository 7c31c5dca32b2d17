import { Socket } from "node:net"
import type { ConnectionOptions } from "node:tls"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { Cause, Effect } from "effect"
import { type DatabaseAddress, type DatabaseHost, isSuitable } from "./DatabaseAddress.ts"
import {
  type DatabaseFault,
  describeDatabaseError,
  faultOf,
  isRejection,
  SocketError,
} from "./describeDatabaseError.ts"
import { findServers, openSession, openSocket, type Server } from "./openSession.ts"
import { Signal } from "./Signal.ts"

const BEAT_EVERY = "2 seconds"
/** Delay before the servers are tried again. */
const RETRY_AFTER = "250 millis"

const SESSION_STATE = "select pg_is_in_recovery(), current_setting('transaction_read_only')::boolean"

interface HeartbeatOptions {
  readonly address: DatabaseAddress
  /** Configuration of the heartbeat's own connection. */
  readonly config: PgConnection.Config
  /** Time limit until a server accepts the heartbeat's connection. */
  readonly connectMs: number
  /** Time limit of a response. */
  readonly responseMs: number
}

/**
 * The heartbeat of a process's connections to one address.
 *
 * TCP can't distinguish a vanished peer from a slow one. So one connection sends a fast statement every two seconds. If the response is
 * late, the heartbeat closes all connections that received no data in the second half of the time limit.
 *
 * The heartbeat also finds the server: connections go to the one that responded last. During an outage, only the heartbeat tries to
 * connect, and other connections fail immediately.
 */
export class Heartbeat {
  /** Raised after the first attempt, and when an outage starts, changes or ends. */
  readonly changes = new Signal()
  /** Reason why no connections are opened; undefined if they are. */
  outage: DatabaseFault | undefined
  private readonly options: HeartbeatOptions
  /** The server that responded last, and the TLS options of its sessions. */
  private current: { readonly server: Server; readonly ssl: ConnectionOptions | false } | undefined
  /** Open connections, each with the bytes received until half of the heartbeat's time limit was over. */
  private readonly sockets = new Map<Socket, number>()

  constructor(options: HeartbeatOptions) {
    this.options = options
  }

  /** Adds the server to a driver's configuration. The driver reads it for each connection, so a copy doesn't follow a failover. */
  configure<Config extends PgConnection.Config>(config: Config): Config {
    const heartbeat = this
    return {
      ...config,
      get host() {
        return heartbeat.current?.server.host.host
      },
      get ssl() {
        return heartbeat.current?.ssl ?? false
      },
      stream: () => heartbeat.open(),
    }
  }

  private open(): Socket {
    if (this.outage !== undefined || this.current === undefined) {
      return new Socket().destroy(new SocketError(this.outage ?? faultOf("ECONNRESET")))
    }
    const socket = openSocket(this.current.server)
    this.sockets.set(socket, 0)
    return socket.once("close", () => this.sockets.delete(socket))
  }

  /** Sends heartbeats until it is interrupted. */
  run(): Effect.Effect<never> {
    return Effect.suspend(() => this.tryServers()).pipe(Effect.andThen(Effect.sleep(RETRY_AFTER)), Effect.forever)
  }

  /** Follows one server after another, each until it fails. */
  private tryServers() {
    return Effect.gen({ self: this }, function* () {
      const { address, connectMs } = this.options
      const find = (host: DatabaseHost) => Effect.timeout(findServers(host), connectMs)
      const [servers, failures] = yield* Effect.partition(address.hosts, find, { concurrency: "unbounded" })
      const faults = failures.map(describeDatabaseError)
      for (const server of servers.flat()) {
        const fault = yield* this.follow(server)
        // As in libpq, a rejected password or database is final.
        if (isRejection(fault.code)) return this.noteFault(fault)
        faults.push(fault)
      }
      this.noteFault(faults.find(({ code }) => code === "NO_SUITABLE_HOST") ?? faults.at(-1)!)
    })
  }

  /** Sends heartbeats to a server until one fails. Returns the reason. */
  private follow(server: Server) {
    const { address, config, connectMs, responseMs } = this.options
    let own: Socket | undefined
    const stream = () => {
      own = openSocket(server)
      return own
    }
    const close = () => void own?.destroy(new SocketError(faultOf("ETIMEDOUT")))
    return Effect.gen({ self: this }, function* () {
      const opening = openSession(server, address, { ...config, stream })
      const { connection, ssl } = yield* this.within(connectMs, opening, close)
      while (true) {
        // A pooler may assign another session each time.
        const rows = yield* this.within(responseMs, connection.queryValues(SESSION_STATE, [], false), close)
        const [[isStandby, isReadOnly]] = rows as readonly [readonly [boolean, boolean]]
        if (!isSuitable(address.targetSession, { isStandby, isReadOnly })) {
          return yield* Effect.fail(new SocketError(faultOf("NO_SUITABLE_HOST")))
        }
        this.noteResponse(server, ssl)
        yield* Effect.sleep(BEAT_EVERY)
      }
    }).pipe(
      Effect.scoped,
      Effect.catchCause((cause) =>
        Effect.sync(() => {
          const fault = describeDatabaseError(Cause.squash(cause))
          this.noteFailure(server, fault)
          return fault
        }),
      ),
    )
  }

  /** Calls `close` if an effect takes too long. Its timers ignore the clock of a test. */
  private within<A, E, R>(limitMs: number, effect: Effect.Effect<A, E, R>, close: () => void): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let isPending = true
      const halfway = setTimeout(() => {
        for (const socket of this.sockets.keys()) this.sockets.set(socket, socket.bytesRead)
      }, limitMs / 2)
      // If the process was suspended, it reads the received data before `setImmediate`.
      const late = setTimeout(() => setImmediate(() => isPending && close()), limitMs)
      return Effect.ensuring(
        effect,
        Effect.sync(() => {
          isPending = false
          clearTimeout(halfway)
          clearTimeout(late)
        }),
      )
    })
  }

  private noteResponse(server: Server, ssl: ConnectionOptions | false): void {
    if (!this.isCurrent(server)) this.close(faultOf("ECONNRESET"))
    this.current = { server, ssl }
    this.note(undefined)
  }

  private noteFailure(server: Server, fault: DatabaseFault): void {
    if (!this.isCurrent(server)) return
    if (fault.code === "ETIMEDOUT") this.close(fault, (socket, received) => socket.bytesRead <= received)
    else if (fault.code === "NO_SUITABLE_HOST") this.close(fault)
    else return
    this.noteFault(fault)
  }

  /** Starts an outage, unless connections are open: a server may reject only further ones. */
  private noteFault(fault: DatabaseFault): void {
    if ([...this.sockets.keys()].some(({ bytesRead }) => bytesRead > 0)) return
    this.close(fault)
    this.note(fault)
  }

  private note(outage: DatabaseFault | undefined): void {
    const isChange = this.changes.count === 0 || outage?.code !== this.outage?.code
    this.outage = outage
    if (isChange) this.changes.raise()
  }

  private isCurrent({ host, ip }: Server): boolean {
    return ip === this.current?.server.ip && host.port === this.current.server.host.port
  }

  private close(fault: DatabaseFault, isMeant: (socket: Socket, received: number) => boolean = () => true): void {
    for (const [socket, received] of [...this.sockets]) {
      if (!isMeant(socket, received)) continue
      this.sockets.delete(socket)
      socket.destroy(new SocketError(fault))
    }
  }
}
