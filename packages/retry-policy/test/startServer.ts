import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Serves HTTP until the test ends, and returns the address and how many connections were opened. */
export async function startServer(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly connections: () => number }> {
  const server = createServer(listener).listen(0, "127.0.0.1")
  let connections = 0
  server.on("connection", () => connections++)
  await once(server, "listening")
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, "close")
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => connections }
}

/** Returns an address where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}
