import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { listen } from "@outreach/process/listen"
import { Effect } from "effect"

/** Serves HTTP on a loopback address until the scope closes, and returns the port. Port 0 chooses a free one. `portSetting` defines the port. */
export const serveHttp = Effect.fnUntraced(function* (
  host: string,
  port: number,
  portSetting: string,
  listener: RequestListener,
) {
  const server = createServer(listener)
  yield* listen(server, { host, port, hostSetting: "--host", portSetting })
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return (server.address() as AddressInfo).port
})
