import { connect, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Duration } from "effect"
import { type DatabaseAddress, type DatabaseHost, isUnixSocket } from "./DatabaseAddress.ts"
import { SocketError } from "./SocketError.ts"

/** PostgreSQL's `SSLRequest`: length and code. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)

export interface Server {
  readonly host: DatabaseHost
  readonly ip: string
}

/**
 * Connects to a server with the encryption of `sslmode`. `opened` is called with each socket before it connects, so that the caller can close
 * it.
 */
export const openSocket = async (
  { host, ip }: Server,
  { tls, keepAlive }: DatabaseAddress,
  opened: (socket: Socket) => void,
): Promise<Socket> => {
  const raw = isUnixSocket(host)
    ? connect({ path: `${host.host}/.s.PGSQL.${host.port}` })
    : connect({
        host: ip,
        port: host.port,
        noDelay: true,
        ...(keepAlive !== null && { keepAlive: true, keepAliveInitialDelay: Duration.toMillis(keepAlive) }),
      })
  opened(raw)
  await next(raw, "connect")
  if (tls.use === "never" || isUnixSocket(host)) return raw
  raw.write(SSL_REQUEST)
  const response = await next(raw, "data")
  // Additional bytes could come from an attacker.
  if (response.equals(Buffer.from("N"))) {
    if (tls.use === "offered") return raw
    throw new SocketError("TLS_REFUSED", "The server offers no TLS")
  }
  if (!response.equals(Buffer.from("S"))) throw new SocketError("EPROTO", "The response to SSLRequest is not valid")
  const name = isIP(host.host) === 0 && !host.host.startsWith("/") ? { servername: host.host } : {}
  const socket = connectTls({ host: host.host, ...name, ...tls.options, socket: raw })
  socket.once("close", () => raw.destroy())
  opened(socket)
  await next(socket, "secureConnect")
  return socket
}

/** Waits for a socket's event. Rejects if the socket fails or closes first. */
const next = async (socket: Socket, event: "connect" | "data" | "secureConnect"): Promise<Buffer> =>
  await new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      socket.off(event, onEvent).off("error", onError).off("close", onClose)
      // A failure between two events must not crash the process.
      socket.on("error", () => {})
      act()
    }
    const onEvent = (value: Buffer) => settle(() => resolve(value))
    const onError = (error: Error) => settle(() => reject(error))
    const onClose = () => settle(() => reject(new SocketError("ECONNRESET", "The connection was closed")))
    socket.on(event, onEvent).on("error", onError).on("close", onClose)
  })
