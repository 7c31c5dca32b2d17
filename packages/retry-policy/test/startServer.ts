import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Serves HTTP until the test ends, and returns the address. */
export async function startServer(listener: RequestListener): Promise<{ readonly url: string }> {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, "close")
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}
