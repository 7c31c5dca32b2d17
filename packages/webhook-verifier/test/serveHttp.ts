import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Serves until disposed, on a free port of this machine. */
export async function serveHttp(listener: RequestListener | Server): Promise<{ url: string } & AsyncDisposable> {
  const server = typeof listener === "function" ? createServer(listener) : listener
  if (!server.listening) await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
