import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Serves HTTP on 127.0.0.1 until the scope closes, and returns the port. Port 0 chooses a free one. */
export const serveHttp = (name: string, port: number, listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>, SandboxError>((resume) => {
      const server = createServer(listener)
      server.once("error", (error) =>
        resume(Effect.fail(new SandboxError({ message: `${name} cannot listen on port ${port}: ${error.message}.` }))),
      )
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** Reads `?limit=`, from 1 to `max`; the default is `max`. */
export const readLimit = (url: string | undefined, max: number): number => {
  const limit = Number(new URL(url ?? "/", "http://localhost").searchParams.get("limit") ?? max)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, max) : max
}
