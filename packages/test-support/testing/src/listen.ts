import { once } from "node:events"
import type { AddressInfo, Server } from "node:net"
import { onTestFinished } from "vitest"
import type { AtEnd } from "./startProcess.ts"

/** A reserved port, which the system never assigns. */
export const CLOSED_PORT = 1

export const CLOSED_ADDRESS = `127.0.0.1:${CLOSED_PORT}`

/**
 * Starts a server on a free port until the test is finished, or until `atEnd` calls back. Returns the port.
 *
 * A server that closes and listens again on the same port needs a `host` from `loopbackAddress`, so that the port stays free meanwhile.
 */
export const listen = async (server: Server, atEnd: AtEnd = onTestFinished, host = "127.0.0.1"): Promise<number> => {
  const sockets = new Set<{ destroy(): void }>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
  })
  atEnd(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  server.listen(0, host)
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}
