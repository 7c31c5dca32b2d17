import type { Server } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Duration, Effect } from "effect"
import { type ListenAddress, ListenError } from "./ListenError.ts"

/** Listens until the scope closes. Then waits for requests in flight, up to the limit of a `drainableServer`. */
export const listen = (server: Server, address: ListenAddress) =>
  NodeHttpServer.make(() => server, {
    host: address.host,
    port: address.port,
    gracefulShutdownTimeout: Duration.infinity,
  }).pipe(Effect.mapError(({ cause }) => new ListenError(address, cause)))
