import { createHmac, timingSafeEqual } from "node:crypto"
import { ByteSize, Cause, Effect, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"
import { PageError } from "./PageError.ts"

const MAX_BYTES = 65_536
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024
const MAX_UPLOAD_FIELDS = 20

/** Time limit of a form without a file. The server limits uploads. */
const FORM_TIMEOUT = "30 seconds"

/** A form's file. */
export interface Upload {
  /** The name from the browser. */
  readonly name: string
  /** Its bytes as they arrive, readable once. */
  readonly content: Stream.Stream<Uint8Array, PageError>
}

/** A form, with a file that arrives while it is read. */
export interface SentForm {
  readonly values: URLSearchParams
  readonly file?: Upload
}

/** Returns the request, or rejects one of another type or one that another site caused. */
const ownRequest = Effect.fnUntraced(function* (type: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { origin, host, "sec-fetch-site": site = "same-origin", "content-type": given = "" } = request.headers
  const isForeign = origin !== undefined && URL.parse(origin)?.host !== host
  if (isForeign || (site !== "same-origin" && site !== "none")) return yield* forged
  return given.split(";")[0]?.trim().toLowerCase() === type ? request : yield* notForm
})

/** Reads a form of a console page. */
export const readForm = Effect.fnUntraced(function* (maxBytes = MAX_BYTES) {
  const request = yield* ownRequest("application/x-www-form-urlencoded")
  const text = yield* request.text.pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.timeout(FORM_TIMEOUT),
    Effect.mapError(() => tooLarge(maxBytes)),
  )
  return new URLSearchParams(text)
})

/** Reads a form up to its file, which comes last, so that the other values can be checked first. The file's name is the input's value. */
export const readUpload = Effect.gen(function* () {
  const request = yield* ownRequest("multipart/form-data")
  const pull = yield* Stream.toPull(request.multipartStream)
  const values = new URLSearchParams()
  const next = pull.pipe(
    Effect.timeout(FORM_TIMEOUT),
    Effect.catch((error) => (Cause.isDone(error) ? Effect.succeed([]) : Effect.fail(tooLarge(MAX_BYTES)))),
  )
  for (let parts = yield* next; parts.length > 0; parts = yield* next) {
    for (const part of parts) {
      if (part._tag === "Field") {
        values.append(part.key, part.value)
        continue
      }
      const name = part.name.replace(/^.*[\\/]/, "")
      values.append(part.key, name)
      return { values, file: { name, content: bounded(part.content) } } satisfies SentForm
    }
  }
  return { values } satisfies SentForm
}).pipe(
  Effect.provideService(Multipart.MaxFieldSize, ByteSize.bytes(MAX_BYTES)),
  Effect.provideService(Multipart.MaxParts, MAX_UPLOAD_FIELDS),
)

/**
 * Fails if a file exceeds the limit. Before that, it discards up to the same amount again: a client that sends the whole request
 * before it reads the response would get a broken connection instead of the error page.
 */
const bounded = (content: Multipart.File["content"]): Upload["content"] =>
  Stream.suspend(() => {
    let size = 0
    return content.pipe(
      Stream.mapError(() => tooLargeFile),
      Stream.tap(({ length }) => {
        size += length
        return size > 2 * MAX_UPLOAD_BYTES ? Effect.fail(tooLargeFile) : Effect.void
      }),
      Stream.filter(() => size <= MAX_UPLOAD_BYTES),
      Stream.concat(Stream.suspend(() => (size > MAX_UPLOAD_BYTES ? Stream.fail(tooLargeFile) : Stream.empty))),
    )
  })

/** The request doesn't come from a console page of this session. */
export const forged = PageError.of(
  403,
  "Action failed",
  "The form didn't come from this console, or its page is older than your session. Open the page again and resubmit the form.",
)

const notForm = PageError.of(415, "Action failed", "The content type is wrong. Use the form of the page.")

const tooLarge = (maxBytes: number) =>
  PageError.of(
    413,
    "Action failed",
    `The form arrived incomplete or is larger than ${maxBytes / 1024} KiB. Shorten it or try again.`,
  )

const tooLargeFile = PageError.of(
  413,
  "Action failed",
  `The file arrived incomplete or is larger than ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB. Split it or try again.`,
)

/** Returns the token in every form of a session, so that no other site can submit one. It doesn't reveal the session. */
export const formToken = (sessionToken: string): string =>
  createHmac("sha256", sessionToken).update("console form").digest("base64url")

/** Reports whether a form has the token of the session. */
export const isFormToken = (token: string, form: URLSearchParams): boolean => {
  const expected = Buffer.from(token)
  const actual = Buffer.from(form.get("token") ?? "")
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
