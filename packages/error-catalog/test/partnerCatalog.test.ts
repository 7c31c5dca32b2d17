import { readFileSync } from "node:fs"
import { describe, expect, expectTypeOf, it } from "vitest"
import type { Retryability } from "../src/defineCatalog.ts"
import { type PartnerErrorCode, partnerCatalog } from "../src/partnerCatalog.ts"

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

const RETRYABILITY: Record<string, Retryability> = {
  no: "no",
  "yes, after `Retry-After`": "after_retry_after",
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
    expect(Object.entries(partnerCatalog.types).map(([type, { retryable }]) => [type, retryable])).toEqual(
      specifiedTypes.map(([type, , retryable]) => [type, RETRYABILITY[retryable!]]),
    )
  })

  it("has the specification's codes word for word, in its order", () => {
    expect(specifiedCodes).toHaveLength(12)
    const rows = Object.entries(partnerCatalog.codes).map(([code, { type, status, condition }]) => [
      code,
      type,
      String(status),
      condition,
    ])
    expect(rows.slice(0, specifiedCodes.length)).toEqual(specifiedCodes)
  })

  it("gives each specified code a status that its type is said to have", () => {
    const typicalOf = new Map(specifiedTypes.map(([type, typical]) => [type, typical!.split(", ")]))
    for (const [, type, status] of specifiedCodes) {
      expect(typicalOf.get(type)).toContain(type === "api_error" ? `${status![0]}xx` : status)
    }
  })

  it("adds exactly the codes that were decided", () => {
    const specified = new Set(specifiedCodes.map(([code]) => code))
    const added = Object.entries(partnerCatalog.codes).filter(([code]) => !specified.has(code))
    expect(Object.fromEntries(added.map(([code, { type, status }]) => [code, [type, status]]))).toEqual(ADDED)
  })

  it("answers status and retryability", () => {
    expect(partnerCatalog.httpStatus("SERVICE_UNAVAILABLE")).toBe(503)
    expectTypeOf(partnerCatalog.httpStatus("SERVICE_UNAVAILABLE")).toEqualTypeOf<503>()
    expect(partnerCatalog.retryability("rate_limit_error")).toBe("after_retry_after")
    expect(partnerCatalog.retryability("api_error")).toBe("backoff")
    expect(partnerCatalog.retryability("idempotency_error")).toBe("no")
  })

  it("builds an envelope for every code, linking to the code's place in the guide", () => {
    for (const code of Object.keys(partnerCatalog.codes) as PartnerErrorCode[]) {
      expect(
        partnerCatalog.envelope(code, {
          message: "No.",
          details: { parameter: "since" },
          requestId: "req_0a",
          docsUrl: "https://docs.example.com",
        }),
      ).toEqual({
        error: {
          type: partnerCatalog.codes[code].type,
          code,
          message: "No.",
          details: { parameter: "since" },
          doc_url: `https://docs.example.com/errors#${code}`,
          request_id: "req_0a",
        },
      })
    }
  })

  it("requires the parameter's name where the specification does, and lets further details stand beside it", () => {
    const options = { message: "`since` is missing.", requestId: "req_0a", docsUrl: "https://docs.example.com" }
    const { error } = partnerCatalog.envelope("MISSING_PARAMETER", {
      ...options,
      details: { parameter: "since", hint: "an ISO 8601 time" },
    })
    expectTypeOf(error.type).toEqualTypeOf<"invalid_request_error">()
    expectTypeOf(error.code).toEqualTypeOf<"MISSING_PARAMETER">()
    expectTypeOf(error.details.parameter).toEqualTypeOf<string>()
    expect(error.details).toEqual({ parameter: "since", hint: "an ISO 8601 time" })

    // @ts-expect-error the parameter's name is missing
    partnerCatalog.envelope("MISSING_PARAMETER", options)
    // @ts-expect-error details without the parameter's name
    partnerCatalog.envelope("INVALID_PARAMETER", { ...options, details: { hint: "an ISO 8601 time" } })
    // @ts-expect-error null names no parameter
    partnerCatalog.envelope("INVALID_PARAMETER", { ...options, details: null })
    // @ts-expect-error one of the two codes needs the parameter's name
    partnerCatalog.envelope("MISSING_PARAMETER" as "MISSING_PARAMETER" | "UNAUTHORIZED", options)
  })

  it("narrows the type of an envelope by its code", () => {
    const options = { message: "No.", requestId: "req_0a", docsUrl: "https://docs.example.com" }
    const unauthorized = partnerCatalog.envelope("UNAUTHORIZED", options)
    expectTypeOf(unauthorized.error.type).toEqualTypeOf<"authentication_error">()
    expect(unauthorized.error.details).toBeNull()

    const either = partnerCatalog.envelope("RATE_LIMITED" as "RATE_LIMITED" | "INTERNAL_ERROR", options)
    if (either.error.code === "RATE_LIMITED") {
      expectTypeOf(either.error.type).toEqualTypeOf<"rate_limit_error">()
    }
    expectTypeOf(either).toExtend<
      | { error: { code: "RATE_LIMITED"; type: "rate_limit_error" } }
      | { error: { code: "INTERNAL_ERROR"; type: "api_error" } }
    >()
    expect(either.error.type).toBe("rate_limit_error")
  })
})
