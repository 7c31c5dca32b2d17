import { readFileSync } from "node:fs"
import type { Retry } from "@outreach/error-catalog"
import { describe, expect, expectTypeOf, it } from "vitest"
import { definePartnerCatalog, type PartnerErrorCode, partnerCatalog } from "../src/catalogs.ts"

/** Reads the rows of each Markdown table of a text, without the heading and the rule below it. */
function tablesOf(markdown: string): string[][][] {
  return markdown
    .trim()
    .split(/\n{2,}/)
    .map((table) =>
      table
        .split("\n")
        .slice(2)
        .map((row) =>
          row
            .slice(1, -1)
            .split("|")
            .map((cell) => cell.trim()),
        ),
    )
}

const [specifiedTypes, specifiedCodes] = tablesOf(
  readFileSync(new URL("data/errorTables.md", import.meta.url), "utf8"),
) as [string[][], string[][]]

const RETRY: Record<string, Retry> = {
  no: "no",
  "yes, after `Retry-After`": "after",
  "yes, exponential backoff": "backoff",
}

// docs/decisions: the codes added to the specification's.
const ADDED = {
  NOT_FOUND: ["invalid_request_error", 404],
  METHOD_NOT_ALLOWED: ["invalid_request_error", 405],
  NOT_ACCEPTABLE: ["invalid_request_error", 406],
  PAYLOAD_TOO_LARGE: ["invalid_request_error", 413],
  UNSUPPORTED_MEDIA_TYPE: ["invalid_request_error", 415],
  IDEMPOTENCY_KEY_IN_USE: ["idempotency_error", 409],
  INVALID_SIGNATURE: ["authentication_error", 401],
  SERVICE_UNAVAILABLE: ["api_error", 503],
} as const

describe("the partner catalog", () => {
  it("has the specification's types with their retryability, and no other", () => {
    expect(specifiedTypes).toHaveLength(6)
    expect(Object.entries(partnerCatalog.types).map(([type, { retry }]) => [type, retry])).toEqual(
      specifiedTypes.map(([type, , retryable]) => [type, RETRY[retryable!]]),
    )
  })

  it("has the specification's codes word for word, in its order", () => {
    expect(specifiedCodes).toHaveLength(12)
    const rows = Object.entries(partnerCatalog.codes).map(([code, { type, status, title }]) => [
      code,
      type,
      String(status),
      title,
    ])
    expect(rows.slice(0, specifiedCodes.length)).toEqual(specifiedCodes)
  })

  it("adds exactly the codes that were decided", () => {
    const specified = new Set(specifiedCodes.map(([code]) => code))
    const added = Object.entries(partnerCatalog.codes).filter(([code]) => !specified.has(code))
    expect(Object.fromEntries(added.map(([code, { type, status }]) => [code, [type, status]]))).toEqual(ADDED)
    expectTypeOf(partnerCatalog.codes.SERVICE_UNAVAILABLE.status).toEqualTypeOf<503>()
  })

  it("builds an envelope for every code, linking to the code's place in the guide", () => {
    for (const docsUrl of ["https://docs.example.com", "https://docs.example.com/", "https://docs.example.com//"]) {
      const catalog = definePartnerCatalog(docsUrl)
      for (const code of Object.keys(catalog.codes) as PartnerErrorCode[]) {
        const occurrence = { message: "No.", details: { parameter: "since" }, requestId: "req_0a" }
        const body = catalog.body(code, { ...occurrence, retryAfter: 1 })
        const error = { type: catalog.codes[code].type, code, message: "No.", details: { parameter: "since" } }
        expect(JSON.stringify(body)).toBe(
          JSON.stringify({
            error: { ...error, doc_url: `https://docs.example.com/errors#${code}`, request_id: "req_0a" },
          }),
        )
        expect(catalog.parse(body)).toMatchObject({ ...error, requestId: "req_0a" })
      }
    }
  })

  it("requires the parameter's name where the specification does, and allows further details", () => {
    const options = { message: "`since` is missing.", requestId: "req_0a" }
    const body = partnerCatalog.body("MISSING_PARAMETER", {
      ...options,
      details: { parameter: "since", hint: "an ISO 8601 time" },
    })
    const said = partnerCatalog.parse(body)
    expect(said.details).toEqual({ parameter: "since", hint: "an ISO 8601 time" })
    if (said.code === "MISSING_PARAMETER") expectTypeOf(said.details.parameter).toEqualTypeOf<string>()

    // @ts-expect-error the parameter's name is missing
    partnerCatalog.body("MISSING_PARAMETER", options)
    // @ts-expect-error details without the parameter's name
    partnerCatalog.body("INVALID_PARAMETER", { ...options, details: { hint: "an ISO 8601 time" } })
    // @ts-expect-error null names no parameter
    partnerCatalog.body("INVALID_PARAMETER", { ...options, details: null })
    // @ts-expect-error one of the two codes needs the parameter's name
    partnerCatalog.body("MISSING_PARAMETER" as "MISSING_PARAMETER" | "UNAUTHORIZED", options)
    // @ts-expect-error the id of the request is missing
    partnerCatalog.body("UNAUTHORIZED", {})
  })

  it("reads a parameter's code without its name as one of the future, and keeps its type", () => {
    const doc_url = "https://docs.example.com/errors#MISSING_PARAMETER"
    const error = { type: "invalid_request_error", code: "MISSING_PARAMETER", message: "No.", doc_url, request_id: "r" }
    expect(partnerCatalog.parse({ error: { ...error, doc_url: "https://example.com/missing" } }).unknownCode).toBeNull()
    expect(partnerCatalog.parse({ error })).toMatchObject({
      code: null,
      unknownCode: "MISSING_PARAMETER",
      type: "invalid_request_error",
      message: "No.",
      retry: "no",
    })
  })
})
