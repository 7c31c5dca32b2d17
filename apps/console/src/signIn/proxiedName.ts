import type { IncomingMessage } from "node:http"
import { OperatorName } from "@outreach/domain/operators/Operator"
import { parseInput } from "@outreach/domain/parseInput"
import type { TrustProxy } from "@outreach/process/trustProxy"
import { Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { PageError } from "../http/PageError.ts"

const parseName = parseInput(OperatorName)

/** Reads the name of the operator that a trusted proxy has signed in. Fails if the peer is not such a proxy, or names nobody. */
export const proxiedName = (
  { headers, source }: HttpServerRequest.HttpServerRequest,
  { proxyHeader, trustProxy }: { readonly proxyHeader: string; readonly trustProxy: TrustProxy },
): Effect.Effect<string, PageError> => {
  // The header counts from the peer alone: a proxy behind it could pass one on that it did not write.
  const peer = (source as IncomingMessage).socket.remoteAddress
  const given = headers[proxyHeader]
  if (peer === undefined || !trustProxy(peer, 0) || given === undefined) return Effect.fail(notThroughProxy)
  // Node reads headers as Latin-1; proxies write names in UTF-8.
  const name = parseName(Buffer.from(given, "latin1").toString())
  return Result.isSuccess(name) ? Effect.succeed(name.success) : Effect.fail(notThroughProxy)
}

const notThroughProxy = PageError.of(
  403,
  "Not signed in",
  "This console lets in operators that a proxy has signed in, and this request did not come through it. Use CONSOLE_URL.",
)

export const unknownOperator = PageError.of(
  403,
  "Not an operator",
  "The proxy has signed you in, but there is no operator of the name that it gave. An admin can add you: ops operators add --name … --role viewer",
)
