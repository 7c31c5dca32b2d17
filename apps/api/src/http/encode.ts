import { HttpServerResponse } from "effect/http"

/** Renders an answer as JSON; a null body is none. */
export const encode = (answer: {
  readonly status: number
  readonly body: object | null
  readonly headers: Readonly<Record<string, string>>
}): HttpServerResponse.HttpServerResponse => {
  const { status, body, headers } = answer
  return body === null
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.jsonUnsafe(body, { status, headers })
}
