import { lookup } from "node:dns/promises"
import { connect, isIP, type Socket } from "node:net"
import type { ConnectionOptions } from "node:tls"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import { type DatabaseAddress, type DatabaseHost, isUnixSocket } from "./DatabaseAddress.ts"
import { describeDatabaseError } from "./describeDatabaseError.ts"

/** Idle time before TCP keep-alive probes. */
const KEEP_ALIVE_MS = 5000

/** One IP address of a host, or its Unix socket. */
export interface Server {
  readonly host: DatabaseHost
  readonly ip: string
}

/** Looks up the servers of a host. */
export const findServers = (host: DatabaseHost): Effect.Effect<ReadonlyArray<Server>, unknown> => {
  if (isUnixSocket(host) || isIP(host.host) !== 0) return Effect.succeed([{ host, ip: host.host }])
  return Effect.map(
    Effect.tryPromise(() => lookup(host.host, { all: true })),
    (found) => found.map(({ address }) => ({ host, ip: address })),
  )
}

/** Starts to connect to a server. The driver adds the encryption. */
export const openSocket = ({ host, ip }: Server): Socket => {
  const socket = isUnixSocket(host)
    ? connect({ path: `${host.host}/.s.PGSQL.${host.port}` })
    : connect({
        host: ip,
        port: host.port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      })
  // With TLS, the driver stops listening to this socket. A failure must not crash the process.
  return socket.on("error", () => {})
}

/** Opens a session, encrypted as `sslmode` requires. Returns it with its TLS options, or false without TLS. */
export const openSession = ({ host }: Server, { tls }: DatabaseAddress, config: PgConnection.Config) => {
  const open = (ssl: ConnectionOptions | false) =>
    Effect.map(PgConnection.make({ ...config, host: host.host, ssl }), (connection) => ({ connection, ssl }))
  if (tls.use === "never" || isUnixSocket(host)) return open(false)
  return Effect.catchIf(
    open(tls.options),
    (error) => tls.use === "offered" && describeDatabaseError(error).code === "TLS_REFUSED",
    () => open(false),
  )
}
