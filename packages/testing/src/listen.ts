import { once } from "node:events"
import type { Server } from "node:net"
import { onTestFinished } from "vitest"
import { reservePort } from "./reservePort.ts"

/** Lets a server listen on a free port of this machine until the test is finished, or until `atEnd` calls back. Returns the port. */
export const listen = async (
  server: Server,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<number> => {
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
  // Some close it and listen there again, so nobody else may get the port until then.
  const port = await reservePort((end) => atEnd(async () => end()))
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return port
}
