import { createServer, type RequestListener } from "node:http"
import type { AddressInfo, Server } from "node:net"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Serves HTTP on a loopback address until the scope closes, and returns the port. Port 0 chooses a free one. */
export const serveHttp = (name: string, host: string, port: number, listener: RequestListener) => {
  const server = createServer(listener)
  const end = Effect.andThen(
    Effect.sync(() => server.closeAllConnections()),
    close(server),
  )
  return Effect.acquireRelease(listen(server, host, port), () => end).pipe(
    Effect.map(portOf),
    Effect.mapError(
      (error) => new SandboxError({ message: `${name} cannot listen on port ${port}: ${error.message}.` }),
    ),
  )
}

/** Starts a server on a host and port. */
export const listen = (server: Server, host: string, port: number): Effect.Effect<Server, Error> =>
  Effect.callback((resume) => {
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen(port, host, () => resume(Effect.succeed(server)))
  })

export const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => void server.close(() => resume(Effect.void)))

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Reads `?limit=`, from 1 to `max`; the default is `max`. */
export const readLimit = (url: string | undefined, max: number): number => {
  const limit = Number(new URL(url ?? "/", "http://localhost").searchParams.get("limit") ?? max)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, max) : max
}
