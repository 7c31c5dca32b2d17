import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Serves HTTP, or HTTPS with a certificate, until the test ends, and returns the address. */
export async function startServer(
  listener: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<{ readonly url: string }> {
  const server = (tls ? createTlsServer(tls, listener) : createServer(listener)).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, "close")
  })
  return { url: `http${tls ? "s" : ""}://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}
