import { describe, expect, expectTypeOf, it } from "vitest"
import { legacyCodes, legacyEnvelope } from "../src/legacyEnvelope.ts"

describe("legacyEnvelope", () => {
  it("holds a code and a message, and nothing else unless given", () => {
    const body = legacyEnvelope("NOT_IMPLEMENTED", "Surveys are in private preview.")
    expect(JSON.stringify(body)).toBe(
      '{"error":{"code":"NOT_IMPLEMENTED","message":"Surveys are in private preview."}}',
    )
    expectTypeOf(body.error.code).toEqualTypeOf<"NOT_IMPLEMENTED">()
  })

  it("lists each fault with its place in the survey", () => {
    const faults = [{ code: "too_small", path: "questions[0].text", message: "Write at least one character." }]
    expect(legacyEnvelope("VALIDATION_ERROR", "The survey is not valid.", faults)).toEqual({
      error: { code: "VALIDATION_ERROR", message: "The survey is not valid.", errors: faults },
    })
  })

  it("knows the status of every code", () => {
    expect(Object.entries(legacyCodes).map(([code, { status }]) => [code, status])).toEqual([
      ["VALIDATION_ERROR", 400],
      ["UNAUTHORIZED", 401],
      ["METHOD_NOT_ALLOWED", 405],
      ["RATE_LIMITED", 429],
      ["INTERNAL_ERROR", 500],
      ["NOT_IMPLEMENTED", 501],
      ["SERVICE_UNAVAILABLE", 503],
    ])
  })

  it("takes no code of the partner table that the legacy endpoints never answer", () => {
    // @ts-expect-error a partner code
    legacyEnvelope("TOKEN_NOT_FOUND", "No.")
  })
})
