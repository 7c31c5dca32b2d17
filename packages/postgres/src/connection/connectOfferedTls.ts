import { connect, isIP, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { type ConnectionOptions, connect as connectTls } from "node:tls"

/** PostgreSQL's `SSLRequest`: its length and its code. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)

/**
 * Opens a connection that is encrypted if the server offers TLS, and plain if it does not, as libpq's `sslmode=prefer` does.
 *
 * The driver's own form of it verifies certificates by public authorities, which libpq's does not. When TLS is offered and fails, the connection fails.
 */
export const connectOfferedTls = (
  address: { readonly host: string; readonly port: number },
  options: ConnectionOptions,
): Duplex => {
  const { host, port } = address
  const raw = connect({ host, port, noDelay: true })
  let socket: Socket = raw
  let isNegotiated = false
  let afterNegotiation = () => {}
  const whenNegotiated = (act: () => void) => {
    if (isNegotiated) act()
    else afterNegotiation = act
  }

  const duplex = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _, done) =>
      whenNegotiated(() => void (socket.write(chunk) ? done() : socket.once("drain", () => done()))),
    final: (done) => whenNegotiated(() => socket.end(done)),
    destroy: (error, done) => {
      socket.destroy()
      raw.destroy()
      done(error)
    },
  })
  const watch = () => {
    socket.on("error", (error) => duplex.destroy(error))
    socket.on("close", () => duplex.destroy())
  }
  const start = () => {
    socket.on("data", (chunk) => duplex.push(chunk) || socket.pause())
    socket.on("end", () => duplex.push(null))
    isNegotiated = true
    afterNegotiation()
  }
  watch()
  raw.once("connect", () => raw.write(SSL_REQUEST))
  raw.once("data", (chunk) => {
    const response = chunk.toString("latin1")
    if (response === "N") return start()
    // More than one byte could come from whoever stands between.
    if (response !== "S") return duplex.destroy(new Error("The response to SSLRequest is not valid"))
    socket = connectTls({ host, ...(isIP(host) === 0 && { servername: host }), ...options, socket: raw })
    watch()
    socket.once("secureConnect", start)
  })
  return duplex
}
