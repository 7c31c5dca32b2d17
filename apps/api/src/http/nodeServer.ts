import type { Duplex } from "node:stream"
import { definePartnerCatalog } from "@outreach/contract/catalogs"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { StoredResponse } from "@outreach/domain/idempotency/executeOnce"
import type { ConnectionLimit } from "@outreach/process/connectionLimit"
import { drainableServer } from "@outreach/process/drainableServer"
import { listen } from "@outreach/process/listen"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { ApiConfig, MaxConnections } from "../ApiConfig.ts"
import { requestCounters } from "./apiMetrics.ts"
import { encode } from "./encode.ts"
import { invalidParameter } from "./RequestError.ts"
import { toErrorResponse } from "./toErrorResponse.ts"

const LIMITS = {
  /** Longer than the idle timeout of common load balancers, which must close first. */
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** Request line and headers together. */
  maxHeaderSize: 8_192,
  /** Buffer for unread bodies, in addition to the first segment. */
  highWaterMark: 16_384,
} as const

/** One in this many dropped connections is logged. */
const LOGGED_DROP = 1000
/** Time for requests in flight to finish after the stop signal. */
const DRAIN_MS = 20_000
/** Time for a client to read the response to an invalid request. */
const LINGER_MS = 500

/**
 * Listens on `HOST` and `PORT`. Responses that Node itself would send also have an envelope and a request id.
 *
 * The caller must serve immediately: earlier requests would never be answered. `drain` adds `Connection: close`
 * to all further responses.
 */
export const nodeServer = Effect.fnUntraced(function* (connections: ConnectionLimit) {
  const { host, port, docsUrl } = yield* ApiConfig
  const catalog = definePartnerCatalog(docsUrl)
  const runSync = Effect.runSyncWith(yield* Effect.context<SecureRandom.SecureRandom>())
  // Upgrades aren't supported: the header is ignored (RFC 9110, 7.8).
  const { server, drain } = drainableServer(
    { ...LIMITS, requireHostHeader: false, shouldUpgradeCallback: () => false },
    DRAIN_MS,
  )
  server.maxConnections = yield* MaxConnections
  const { refuse } = requestCounters(yield* Effect.context<never>())
  const dropping = (reason: "connection_limit" | "address_connection_limit", message: string) => {
    let dropped = 0
    return () => {
      refuse(reason)
      if (dropped++ % LOGGED_DROP === 0) runSync(Effect.annotateLogs(Effect.logWarning(message), { dropped }))
    }
  }
  server.on("drop", dropping("connection_limit", "connection limit reached, dropping connections"))
  connections.watch(
    server,
    dropping("address_connection_limit", "address connection limit reached, dropping connections"),
  )

  const refuseRaw = (socket: Duplex, problem: string, packet?: Buffer) => {
    if (!socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    refuse("malformed")
    const requestId = runSync(createIdentifier("request"))
    const exchange = { requestId, operation: undefined, envelope: "partner", window: undefined } as const
    const answer = encode(toErrorResponse(invalidParameter("request", problem), exchange, catalog, Date.now() / 1000))
    socket.end(rawResponse(answer, packet?.toString("latin1", 0, 5) === "HEAD "))
    // Unread input would reset the connection before the client reads the response.
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once("close", () => clearTimeout(timer))
  }

  server.on("clientError", (error: ClientError, socket) => {
    if (error.code === "ECONNRESET") socket.destroy()
    else refuseRaw(socket, problems[error.code ?? ""] ?? "is not a well-formed HTTP request", error.rawPacket)
  })
  server.on("connect", (_request, socket) => refuseRaw(socket, "CONNECT is not answered"))
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))

  server.on("request", (request, response) => {
    // After an upgrade request, Node doesn't report further errors on the connection, so a client that sends an invalid request would wait in vain.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
  })

  const http = yield* listen(server, { host, port, hostSetting: "HOST", portSetting: "PORT" })
  return { server: http, drain: Effect.sync(drain) }
})

interface ClientError extends NodeJS.ErrnoException {
  /** The last packet, which contains the fault. */
  readonly rawPacket?: Buffer
}

const problems: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `its line and headers exceed ${LIMITS.maxHeaderSize} bytes`,
  ERR_HTTP_REQUEST_TIMEOUT: "did not arrive in time",
}

// Node's internal reference to the response in progress.
const isAnswering = (socket: Duplex): boolean =>
  (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent === true

const rawResponse = ({ status, headers, body }: StoredResponse, headOnly: boolean): string => {
  const text = body ?? ""
  const lines = [
    `HTTP/1.1 ${status} Bad Request`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ]
  return `${lines.join("\r\n")}\r\n\r\n${headOnly ? "" : text}`
}
