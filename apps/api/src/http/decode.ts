import { decode as decodeWith, type Operation, type RequestOf, rawQuery } from "@outreach/contract"
import { Effect } from "effect"
import { invalidParameter, RequestError } from "./toErrorResponse.ts"

/** Decodes path parameters and query by the operation's schemas. */
export const decode = <Op extends Operation>(
  operation: Op,
  parameters: Readonly<Record<string, string | undefined>>,
  search: string,
): Effect.Effect<Pick<RequestOf<Op>, "path" | "query">, RequestError> => {
  const path = decodeWith(operation.pathParameters, parameters, operation.parameterCodes)
  if (!path.ok) return Effect.fail(RequestError.BadRequest({ ...path.refusal }))
  const query = decodeWith(operation.query, rawQuery(new URLSearchParams(search)), operation.parameterCodes)
  if (!query.ok) return Effect.fail(RequestError.BadRequest({ ...query.refusal }))
  return Effect.succeed({ path: path.value, query: query.value } as Pick<RequestOf<Op>, "path" | "query">)
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
  const body = decodeWith(operation.body.schema, value)
  return body.ok
    ? Effect.succeed({ body: body.value, bodyText })
    : Effect.fail(RequestError.BadRequest({ ...body.refusal }))
}

const NO_JSON = invalidParameter("body", "must be JSON in UTF-8")
