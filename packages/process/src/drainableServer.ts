import { createServer, type Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Maximum event-loop turns for accepting queued connections on close; far more than a queue's length. */
const MAX_TURNS = 10_000
/** How long a request may be in transit on an idle connection when the server begins to drain or closes. */
const LINGER_MS = 500

/**
 * Creates a server that doesn't reset connections with requests sent before it closed: `close` ends each connection after its response, or after
 * a short idle time. `drain` adds `Connection: close` to all further responses and ends idle connections, as closing
 * does, but accepts new ones.
 *
 * After `drainMs` it destroys the remaining connections. Fibers that wait for the rest of a request end only then: Effect doesn't interrupt fibers
 * that handle a request, and Node stops checking request timeouts when the server closes.
 */
export const drainableServer = (options: ServerOptions, drainMs: number) => {
  let isDraining = false
  class Response extends ServerResponse {
    override writeHead(...head: ReadonlyArray<never>): this {
      if (isDraining) this.shouldKeepAlive = false
      return super.writeHead(...(head as unknown as [number]))
    }
  }
  const server: Server = createServer({ ...options, ServerResponse: Response })
  const nodeCloseIdle = server.closeIdleConnections.bind(server)
  const drain = () => {
    if (isDraining) return
    isDraining = true
    // By the first time, connections in use have had a response. Ending idle ones immediately would reset requests in transit.
    const idle = setInterval(nodeCloseIdle, LINGER_MS)
    server.once("close", () => clearInterval(idle))
  }
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on("connection", (socket) => {
    accepted++
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const closeUnused = () => {
    // Node counts a connection without any input as active.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  // On close, the kernel resets queued connections that Node hasn't accepted, and Node accepts one per event-loop turn. So the port closes
  // after a turn without a new connection.
  const nodeClose = server.close.bind(server)
  server.close = (onClosed) => {
    drain()
    const closeWhenQuiet = (before: number, turns: number): void => {
      if (accepted === before || turns === 0) nodeClose(onClosed)
      else setImmediate(closeWhenQuiet, accepted, turns - 1)
    }
    // The first turn may not have polled for connections yet.
    setImmediate(() => setImmediate(closeWhenQuiet, accepted, MAX_TURNS))
    return server
  }
  // Called by `close`.
  server.closeIdleConnections = () => {
    drain()
    const unused = setInterval(closeUnused, LINGER_MS)
    const late = setTimeout(() => server.closeAllConnections(), drainMs)
    server.once("close", () => {
      clearInterval(unused)
      clearTimeout(late)
    })
  }
  return { server, drain }
}
