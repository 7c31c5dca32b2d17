import { createServer, type Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** For how many turns of the event loop a server accepts the connections that are queued when it closes. Far more than a queue's length. */
const MAX_TURNS = 10_000
/** How long a request may be under way on a connection that is idle here when the server closes. */
const LINGER_MS = 500

/**
 * Creates a server that resets no connection on which a request was sent before it closed: `close` ends each after its response, or once it
 * has been idle for a moment. `drain` lets every response from now on say `Connection: close`, as closing the server does.
 *
 * After `drainMs` it ends the others too. A fiber that waits for the rest of a request ends only then: Effect interrupts no fiber that
 * handles a request, and Node stops to look for late requests when the server closes.
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
  const drain = () => {
    isDraining = true
  }
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on("connection", (socket) => {
    accepted++
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const nodeCloseIdle = server.closeIdleConnections.bind(server)
  const closeIdle = () => {
    nodeCloseIdle()
    // Node takes a connection on which nothing was sent for one with a request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  // The kernel resets the connections that Node hasn't accepted when the port closes, and Node accepts one in each turn of its loop. So the port closes
  // after a turn without a new one.
  const nodeClose = server.close.bind(server)
  server.close = (onClosed) => {
    drain()
    const closeWhenQuiet = (before: number, turns: number): void => {
      if (accepted === before || turns === 0) nodeClose(onClosed)
      else setImmediate(closeWhenQuiet, accepted, turns - 1)
    }
    // The first turn may not have looked for connections yet.
    setImmediate(() => setImmediate(closeWhenQuiet, accepted, MAX_TURNS))
    return server
  }
  // Called by `close`. To end idle connections at once would reset those on which a request is under way.
  server.closeIdleConnections = () => {
    drain()
    const idle = setInterval(closeIdle, LINGER_MS)
    const late = setTimeout(() => server.closeAllConnections(), drainMs)
    server.once("close", () => {
      clearInterval(idle)
      clearTimeout(late)
    })
  }
  return { server, drain }
}
