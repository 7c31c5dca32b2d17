import { createHmac, timingSafeEqual } from "node:crypto"
import { ByteSize, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { PageError } from "./PageError.ts"

const MAX_BYTES = 65_536

/** Reads the form that a page of the console sent. Refuses a request that another site made the browser send. */
export const readForm = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { origin, host, "sec-fetch-site": site = "same-origin" } = request.headers
  const isForeign = origin !== undefined && URL.parse(origin)?.host !== host
  if (isForeign || (site !== "same-origin" && site !== "none")) return yield* forged
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    return yield* notForm
  const text = yield* request.text.pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(MAX_BYTES)),
    Effect.mapError(() => tooLarge),
  )
  return new URLSearchParams(text)
})

/** The request was not sent by a page of the console for this session. */
export const forged = PageError.of(
  403,
  "Not done",
  "The form was not sent by this console, or its page is older than your session. Check what it says, and send it again from its page.",
)

const notForm = PageError.of(415, "Not done", "The request is not a form.")

const tooLarge = PageError.of(
  413,
  "Not done",
  `The form did not arrive whole, or holds more than ${MAX_BYTES / 1024} KiB.`,
)

/** Returns the token that every form of a session carries, so that no other site can send one. It does not give the session away. */
export const formToken = (sessionToken: string): string =>
  createHmac("sha256", sessionToken).update("console form").digest("base64url")

export const isFormToken = (sessionToken: string, given: string | undefined): boolean => {
  const expected = Buffer.from(formToken(sessionToken))
  const actual = Buffer.from(given ?? "")
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
