import * as z from "zod"

const text = (id: string, description: string, example: string) =>
  z.string().meta({ description, example, header: { id } })
const integer = (id: string, description: string, example: number) =>
  z.int().min(0).meta({ description, example, header: { id } })

/** Request headers that operations read, in addition to the credential. */
export const requestHeaders = {
  "If-None-Match": z.string().meta({ description: "An ETag from an earlier response.", example: '"5d41402abc4b2a76"' }),
  "Idempotency-Key": z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters")
    .meta({
      description:
        "Repeats of the same request within 24 hours return the first response, unless newer responses of the organization needed its space.",
      example: "2f1c9a",
    }),
} as const

/** All response headers of the contract, by name. */
export const responseHeaders = {
  "X-Request-Id": text("X-Request-Id", "Identifier of the request.", "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8"),
  "X-RateLimit-Limit": integer("X-RateLimit-Limit", "Requests allowed per window.", 100),
  "X-RateLimit-Remaining": integer("X-RateLimit-Remaining", "Requests left in the window.", 99),
  "X-RateLimit-Reset": integer("X-RateLimit-Reset", "Unix seconds when the window resets.", 1795229160),
  "Retry-After": integer("Retry-After", "Seconds to wait before the next attempt.", 31),
  ETag: text("ETag", "Strong entity tag of the record.", '"5d41402abc4b2a76"'),
  "Cache-Control": text("Cache-Control", "How long the response stays fresh.", "private, max-age=10, must-revalidate"),
  "WWW-Authenticate": text("WWW-Authenticate", "The scheme to authenticate with.", "Bearer"),
  "Idempotent-Replayed": z
    .literal("true")
    .optional()
    .meta({ description: "Present only on a replayed response.", header: { id: "Idempotent-Replayed" } }),
} as const
