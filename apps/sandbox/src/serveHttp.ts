import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Serves HTTP on 127.0.0.1 until the scope closes, on a port or, for 0, on any that is free; answers the port. */
export const serveHttp = (what: string, port: number, listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>, SandboxError>((resume) => {
      const server = createServer(listener)
      server.once("error", (error) =>
        resume(Effect.fail(new SandboxError({ message: `${what} cannot listen on port ${port}: ${error.message}.` }))),
      )
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** Reads how many items a listing should hold: `?limit=`, from 1 to `most`, which is also the default. */
export const readLimit = (url: string | undefined, most: number): number => {
  const limit = Number(new URL(url ?? "/", "http://localhost").searchParams.get("limit") ?? most)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, most) : most
}
