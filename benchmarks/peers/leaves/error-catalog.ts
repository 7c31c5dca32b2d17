import { paymentRequired } from "@hapi/boom"
import { defineCatalog } from "@outreach/error-catalog"
import { problemJson } from "@outreach/error-catalog/problem"
import createError from "http-errors"
import { ProblemDocument, ProblemDocumentExtension } from "http-problem-details"
import type { Comparison } from "./Comparison.ts"

const THROWN = "throw, catch and respond"
const BODY = "create a body without an error"
const READ = "parse a body in a client"

const THROWS = "throwable errors with status and headers"
const CODES = "one table of codes with typed details"
const PROBLEM = "`application/problem+json`"
const FORM = "custom envelope"
const HIDES = "hides messages of other errors"
const RETRY = "`Retry-After` and retry rules"
const READS = "client parser that accepts unknown codes"
const OPENAPI = "OpenAPI and a reference page"
const HANDLERS = "error handlers of Express, Fastify and Hono"
const MAPS = "maps errors of frameworks and validators to codes"
const HELPERS = "a function for each status"

const docUrl = (code: string): string => `https://pay.example.com/errors/${code}`
const errors = defineCatalog({
  docUrl,
  envelope: problemJson,
  types: { payment: { retry: "no" }, service: { retry: "backoff" } },
  codes: {
    CARD_DECLINED: { type: "payment", status: 402, title: "The card was declined." },
    INTERNAL: { type: "service", status: 500, title: "Something went wrong." },
  },
  unknown: "INTERNAL",
})
const details = { reason: "expired" }
const received = JSON.stringify(errors.body("CARD_DECLINED", { details }))

/** Each candidate throws an error with a code and a detail, and returns a status, headers and a JSON body. */
const thrown = (create: () => Error, answer: (caught: never) => object) => (): object => {
  try {
    throw create()
  } catch (caught) {
    return answer(caught as never)
  }
}

const problemDocument = (): ProblemDocument =>
  new ProblemDocument(
    { type: docUrl("CARD_DECLINED"), title: "The card was declined.", status: 402 },
    new ProblemDocumentExtension({ code: "CARD_DECLINED", ...details }),
  )

export const comparison: Comparison = {
  features: [THROWS, CODES, PROBLEM, FORM, HIDES, RETRY, READS, OPENAPI, MAPS, HANDLERS, HELPERS],
  operations: [THROWN, BODY, READ],
  candidates: [
    {
      name: "error-catalog",
      packageName: "@outreach/error-catalog",
      code: `import { defineCatalog } from "@outreach/error-catalog"
import { problemJson } from "@outreach/error-catalog/problem"
const errors = defineCatalog({
  docUrl: (code) => "https://pay.example.com/errors/" + code,
  envelope: problemJson,
  types: { payment: { retry: "no" }, service: { retry: "backoff" } },
  codes: {
    CARD_DECLINED: { type: "payment", status: 402, title: "The card was declined." },
    INTERNAL: { type: "service", status: 500, title: "Something went wrong." },
  },
  unknown: "INTERNAL",
})
export const decline = () => { throw errors.error("CARD_DECLINED", { details: { reason: "expired" } }) }
export const answer = (caught) => errors.respond(caught)`,
      has: [THROWS, CODES, PROBLEM, FORM, HIDES, RETRY, READS, OPENAPI, MAPS, HANDLERS],
      operations: {
        [THROWN]: thrown(
          () => errors.error("CARD_DECLINED", { details }),
          (caught) => {
            const { status, headers, body } = errors.respond(caught)
            return { status, headers, body: JSON.stringify(body) }
          },
        ),
        [BODY]: () => JSON.stringify(errors.body("CARD_DECLINED", { details })),
        [READ]: () => errors.parse(received),
      },
    },
    {
      name: "http-errors",
      packageName: "http-errors",
      code: `import createError from "http-errors"
export const decline = () => { throw createError(402, "The card was declined.", { code: "CARD_DECLINED", reason: "expired" }) }
export const answer = (caught) => {
  const { status, headers, expose, message, code, reason } = createError.isHttpError(caught) ? caught : createError(500)
  return { status, headers, body: expose ? { message, code, reason } : { message: "Something went wrong." } }
}`,
      has: [THROWS, HELPERS, HIDES],
      operations: {
        [THROWN]: thrown(
          () => createError(402, "The card was declined.", { code: "CARD_DECLINED", ...details }),
          (caught) => {
            const { status, headers, message, code, reason } = caught as createError.HttpError
            return { status, headers, body: JSON.stringify({ message, code, reason }) }
          },
        ),
      },
    },
    {
      name: "@hapi/boom",
      packageName: "@hapi/boom",
      code: `import { boomify, paymentRequired } from "@hapi/boom"
export const decline = () => {
  const error = paymentRequired("The card was declined.")
  Object.assign(error.output.payload, { code: "CARD_DECLINED", reason: "expired" })
  throw error
}
export const answer = (caught) => {
  const { statusCode, headers, payload } = boomify(caught).output
  return { status: statusCode, headers, body: payload }
}`,
      has: [THROWS, HELPERS, HIDES],
      operations: {
        [THROWN]: thrown(
          () => {
            const error = paymentRequired("The card was declined.")
            Object.assign(error.output.payload, { code: "CARD_DECLINED", ...details })
            return error
          },
          (caught) => {
            const { statusCode, headers, payload } = (caught as ReturnType<typeof paymentRequired>).output
            return { status: statusCode, headers, body: JSON.stringify(payload) }
          },
        ),
      },
    },
    {
      name: "http-problem-details",
      packageName: "http-problem-details",
      code: `import { ProblemDocument, ProblemDocumentExtension } from "http-problem-details"
class Problem extends Error { constructor(document) { super(document.title); this.document = document } }
export const decline = () => {
  const extension = new ProblemDocumentExtension({ code: "CARD_DECLINED", reason: "expired" })
  throw new Problem(new ProblemDocument({ type: "https://pay.example.com/errors/CARD_DECLINED", title: "The card was declined.", status: 402 }, extension))
}
export const answer = (caught) => {
  const document = caught instanceof Problem ? caught.document : new ProblemDocument({ status: 500 })
  return { status: document.status, headers: { "Content-Type": "application/problem+json" }, body: document }
}`,
      has: [PROBLEM],
      operations: { [BODY]: () => JSON.stringify(problemDocument()) },
    },
  ],
}
