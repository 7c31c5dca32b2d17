import { type Decoded, decode as decodeWith, type Operation, type RequestOf, rawQuery } from "@outreach/contract"
import { Effect } from "effect"
import { badRequest, invalidParameter, type RequestError } from "./RequestError.ts"

/** Returns a decoded value, or fails with the reason for rejecting it. */
export const accept = <Value>(decoded: Decoded<Value>): Effect.Effect<Value, RequestError> =>
  decoded.ok ? Effect.succeed(decoded.value) : Effect.fail(badRequest(decoded.refusal))

/** Decodes path parameters and query by the operation's schemas. */
export const decode = <Op extends Operation>(
  { pathParameters, query, parameterCodes }: Op,
  parameters: Readonly<Record<string, string | undefined>>,
  search: string,
): Effect.Effect<Pick<RequestOf<Op>, "path" | "query">, RequestError> => {
  const decodedPath = decodeWith(pathParameters, parameters, parameterCodes)
  if (!decodedPath.ok) return accept(decodedPath)
  const decodedQuery = decodeWith(query, rawQuery(new URLSearchParams(search)), parameterCodes)
  if (!decodedQuery.ok) return accept(decodedQuery)
  return Effect.succeed({ path: decodedPath.value, query: decodedQuery.value } as Pick<RequestOf<Op>, "path" | "query">)
}

/** A request body: its text and the parsed JSON. */
export interface DecodedBody {
  /** Undefined for operations without a body. */
  readonly body: unknown
  /** Without a byte order mark, which parsers may ignore (RFC 8259, 8.1), but `JSON.parse` doesn't. */
  readonly bodyText: string
}

const NO_BODY: DecodedBody = { body: undefined, bodyText: "" }
const utf8 = new TextDecoder("utf-8", { fatal: true })

export const decodeBody = (operation: Operation, bytes: Uint8Array): Effect.Effect<DecodedBody, RequestError> => {
  if (operation.body === null) return Effect.succeed(NO_BODY)
  let bodyText: string
  let value: unknown
  try {
    bodyText = utf8.decode(bytes)
    value = JSON.parse(bodyText)
  } catch {
    return Effect.fail(NO_JSON)
  }
  return Effect.map(accept(decodeWith(operation.body.schema, value)), (body) => ({ body, bodyText }))
}

const NO_JSON = invalidParameter("body", "must be JSON in UTF-8")
