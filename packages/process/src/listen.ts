import type { Server } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { type Duration, Effect } from "effect"
import { type ListenAddress, ListenError } from "./ListenError.ts"

/** Listens until the scope closes. Then requests in flight may take `drain` to finish. */
export const listen = (server: Server, options: ListenAddress & { readonly drain: Duration.Input }) =>
  NodeHttpServer.make(() => server, {
    host: options.host,
    port: options.port,
    gracefulShutdownTimeout: options.drain,
  }).pipe(
    Effect.mapError(({ cause }) => new ListenError(options, cause)),
    Effect.tap(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))),
  )
